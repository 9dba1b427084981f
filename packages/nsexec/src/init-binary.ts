import { existsSync } from "node:fs";
import { join } from "node:path";
import { NsexecError } from "./errors.js";
import { packageRoot } from "./package-root.js";

/** The static program of this package: launcher on the host, and PID 1's file in a layer of a session. */
export function initBinaryPath(): string {
  const path = join(packageRoot(), "build", "Release", "drums-init");
  if (existsSync(path)) return path;
  throw new NsexecError("INIT_MISSING", `drums-init is not built: ${path}`, {
    path,
    hint: "Build it with: bash native/build.sh init",
  });
}
