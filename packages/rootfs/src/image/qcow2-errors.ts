import { RootfsError } from "../errors.js";

/** The error for a number in the file that cannot be. */
export function corrupt(what: string): RootfsError {
  return new RootfsError("CORRUPT", `the qcow2 image is corrupt: ${what}`, {
    hint: "Try `qemu-img check`, or fetch the image again.",
  });
}

/** The error for what should lie in the file and ends behind it. */
export function truncated(what: string, facts: Readonly<Record<string, number>> = {}): RootfsError {
  return new RootfsError("TRUNCATED", `the qcow2 image ends before ${what} does`, {
    hint: "The file is cut short: fetch it again and compare its sha256.",
    facts,
  });
}

/** The same error with the image's path in its sentence. */
export function at(error: RootfsError, path: string): RootfsError {
  const { code, message, hint, facts, cause } = error;
  return new RootfsError(code, `${path}: ${message}`, { path, ...(hint ? { hint } : {}), facts, cause });
}
