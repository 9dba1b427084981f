import { readInside } from "./inside.js";

const STATUS = "/var/lib/dpkg/status";
const MAX_STATUS_BYTES = 64 << 20;

/** A package as dpkg's status or a .deb's control file describes it. */
export interface InstalledPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** `Pre-Depends` and `Depends`: each must be met by one of its alternatives. */
  readonly depends: readonly string[];
  /** Names that it stands for, as `Provides` writes them. */
  readonly provides: readonly string[];
  /** False for one that is removed, or half installed. */
  readonly installed: boolean;
}

/** The packages that dpkg's status file of a root knows, by name; none for a root without dpkg. */
export async function readPackages(root: string): Promise<Map<string, InstalledPackage>> {
  const text = (await readInside(root, STATUS, { maxBytes: MAX_STATUS_BYTES })) ?? "";
  return new Map(parseControl(text).map((entry) => [entry.name, entry]));
}

/** Paragraphs in the form of deb-control(5). Those without a name are left out. */
export function parseControl(text: string): InstalledPackage[] {
  return text
    .split(/\n\s*\n/)
    .map(fieldsOf)
    .filter((fields) => fields.has("package"))
    .map((fields) => ({
      name: fields.get("package") ?? "",
      version: fields.get("version") ?? "",
      architecture: fields.get("architecture") ?? "",
      depends: [...listOf(fields.get("pre-depends")), ...listOf(fields.get("depends"))],
      provides: listOf(fields.get("provides")),
      installed: / installed$/.test(fields.get("status") ?? " installed"),
    }));
}

function fieldsOf(paragraph: string): Map<string, string> {
  const fields = new Map<string, string>();
  // A line that begins with a blank goes on with the field above.
  for (const line of paragraph.replace(/\n[ \t]+/g, " ").split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return fields;
}

function listOf(value: string | undefined): string[] {
  return (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
}
