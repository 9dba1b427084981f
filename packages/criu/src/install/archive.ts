import { readFile } from "node:fs/promises";
import { execa } from "execa";
import { CriuError } from "../errors.js";

/** One repository of the machine's own apt configuration, as `apt-get indextargets` names it. */
export interface Archive {
  readonly uri: string;
  /** The suite as configured, such as `bookworm-updates`. */
  readonly release: string;
  readonly component: string;
  /** The Origin field of its Release file; empty before the first `apt-get update`. */
  readonly origin: string;
}

const FORMAT = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)";

/** Parses the lines of `apt-get indextargets --format` with the fields of {@link Archive} parted by `|`. */
export function parseArchives(text: string): Archive[] {
  const unique = new Set(text.split("\n").filter((line) => line.includes("|")));
  return [...unique].map((line) => {
    const [uri = "", release = "", component = "", origin = ""] = line.split("|");
    return { uri, release, component, origin: origin.startsWith("$(") ? "" : origin };
  });
}

/** The repositories that this machine's apt is configured with. */
export async function readArchives(): Promise<Archive[]> {
  const { stdout } = await execa("apt-get", ["indextargets", "--format", FORMAT], { env: { LC_ALL: "C" } });
  return parseArchives(stdout);
}

/**
 * The URI to fetch a suite from: that of an archive configured for the very suite,
 * else Debian's main archive, which is the one that serves the machine's own release.
 * @throws {CriuError} `NO_DEBIAN_ARCHIVE`
 */
export function archiveFor(
  suite: string,
  options: { archives: readonly Archive[]; codename: string },
): string {
  const debian = options.archives.filter(
    ({ origin, component }) => /^(Debian)?$/.test(origin) && component === "main",
  );
  const found =
    debian.find(({ release }) => release === suite) ??
    debian.find(({ release }) => release === options.codename) ??
    debian.find(({ release, origin }) => origin === "Debian" && !release.endsWith("-security"));
  if (found !== undefined) return found.uri;
  throw new CriuError("NO_DEBIAN_ARCHIVE", "This machine's apt configuration names no Debian archive", {
    hint: "Fetch the pinned .deb files elsewhere and name their folder (with a SHA256SUMS file) as debsFolder",
    facts: { suite, codename: options.codename },
  });
}

/** VERSION_CODENAME of an os-release text, empty where there is none. */
export function parseCodename(osRelease: string): string {
  return /^VERSION_CODENAME="?([^"\n]*)"?$/m.exec(osRelease)?.[1] ?? "";
}

/** The code name of this machine's release. */
export async function readCodename(path = "/etc/os-release"): Promise<string> {
  return parseCodename(await readFile(path, "utf8").catch(() => ""));
}
