import { execa } from "execa";
import { CriuError } from "../errors.js";

/**
 * Brings lo up in a process's net namespace. At CRIU's setup-namespaces the namespace is there and no socket
 * yet: with lo down, 127.0.0.1 would be no local address to bind to.
 * @throws {CriuError} `PROGRAM_MISSING`, `RESTORE_FAILED`
 */
export async function bringLoopbackUp(pid: number): Promise<void> {
  const args = [`--net=/proc/${pid}/ns/net`, "ip", "link", "set", "lo", "up"];
  const { failed, code, stderr } = await execa("nsenter", args, { reject: false });
  if (!failed) return;
  throw new CriuError(
    code === "ENOENT" ? "PROGRAM_MISSING" : "RESTORE_FAILED",
    `lo could not be brought up in the restored net namespace: ${stderr || `nsenter failed (${code})`}`,
    { hint: "Install util-linux (nsenter) and iproute2 (ip), and see that PATH holds them", facts: { pid } },
  );
}
