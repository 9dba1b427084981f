import { DrumsError } from "../errors.js";

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

/**
 * Checks the name of a record: segments of plain characters joined by `/`, no leading dot, no `..`, relative.
 * The plain alphabet also keeps a manifest readable by sha256sum, which escapes backslashes and newlines.
 * @throws DrumsError EVIDENCE_NAME
 */
export function checkRecordName(name: string): string {
  const segments = name.split("/");
  if (name.length <= 255 && segments.every((segment) => SEGMENT.test(segment))) return name;
  throw new DrumsError({
    code: "EVIDENCE_NAME",
    what: `${JSON.stringify(name)} is not a name for a record`,
    hint: "use relative names of letters, digits, dots, underscores and dashes, with / between folders",
  });
}

/** Folder name of an attempt: 1 → "001". */
export function attemptFolder(number: number): string {
  return String(number).padStart(3, "0");
}

/** Number of an attempt's folder, or undefined when it is not one. */
export function attemptNumber(folder: string): number | undefined {
  return /^\d{3,}$/.test(folder) && Number(folder) > 0 ? Number(folder) : undefined;
}
