import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { NsexecError } from "./errors.js";

/** This package's folder, found from src/ as well as from the bundled dist/. */
export function packageRoot(): string {
  const start = dirname(fileURLToPath(import.meta.url));
  for (let folder = start; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  throw new NsexecError("PACKAGE_BROKEN", `no package.json in ${start} or above it`, {
    path: start,
    hint: "Install @drums/nsexec again, whole.",
  });
}
