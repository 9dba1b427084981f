import { closeSync, constants, openSync } from "node:fs";
import { sys } from "@drums/nsexec";
import { CriuError } from "../errors.js";

/**
 * Brings lo up in a process's net namespace. At CRIU's setup-namespaces the namespace is there and no socket
 * yet: with lo down, 127.0.0.1 would be no local address to bind to.
 * @throws {CriuError} `RESTORE_FAILED`
 */
export function bringLoopbackUp(pid: number): void {
  try {
    const net = openSync(`/proc/${pid}/ns/net`, constants.O_RDONLY);
    try {
      sys.setLinkUpIn(net, "lo");
    } finally {
      closeSync(net);
    }
  } catch (cause) {
    throw new CriuError(
      "RESTORE_FAILED",
      `lo could not be brought up in the restored net namespace: ${cause instanceof Error ? cause.message : cause}`,
      {
        hint: "The restored process may have been killed: see dmesg; else run as root",
        cause,
        facts: { pid },
      },
    );
  }
}
