import { closeSync, existsSync, readFileSync } from "node:fs";
import { release } from "node:os";
import { initBinaryPath } from "./init-binary.js";
import { findOnPath } from "./network/find.js";
import type { NamespaceKind } from "./proc/namespaces.js";
import { parseStatus } from "./proc/status.js";
import { O } from "./syscalls/constants.js";
import { openat2 } from "./syscalls/file.js";
import { native } from "./syscalls/native.js";
import { pidfdOpen, pidfdWait } from "./syscalls/pidfd.js";
import { clone3Exec } from "./syscalls/spawn.js";

/** What {@link preflight} asks of the machine; a unit test answers in its place. */
export interface PreflightSystem {
  /** As uname -r. */
  release(): string;
  uid(): number;
  /** The effective capabilities as a bit mask. */
  capabilities(): bigint;
  /** A file's text, or undefined where it cannot be read. */
  readText(path: string): string | undefined;
  /** Whether there is such a file. */
  exists(path: string): boolean;
  /** Where a program is on PATH. */
  findProgram(name: string): string | undefined;
  /** Throws where the addon does not load. */
  loadAddon(): void;
  /** The static program's path. Throws where it is missing. */
  initBinary(): string;
  /** Each throws what the kernel answered. */
  tryOpenat2(): void;
  tryPidfd(): void;
  /** Starts a program that ends at once, in new namespaces of these kinds. */
  tryClone(program: string, namespaces: readonly NamespaceKind[]): Promise<void>;
}

/** The machine itself. */
export const realSystem: PreflightSystem = {
  release,
  uid: () => process.geteuid?.() ?? -1,
  capabilities: () => parseStatus(readFileSync("/proc/self/status", "utf8")).capEff,
  readText(path) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  },
  exists: existsSync,
  findProgram: (name) => findOnPath(name),
  loadAddon: () => void native(),
  initBinary: initBinaryPath,
  tryOpenat2: () => closeSync(openat2({ path: "/", flags: O.O_PATH })),
  tryPidfd: () => closeSync(pidfdOpen(process.pid)),
  async tryClone(program, namespaces) {
    const { pidfd } = clone3Exec({ file: program, argv: [program], namespaces });
    await pidfdWait(pidfd);
    closeSync(pidfd);
  },
};
