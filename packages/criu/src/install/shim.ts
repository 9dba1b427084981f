import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { packageRoot } from "../package-root.js";

/** capabilities(7): bit of CAP_SYS_RESOURCE in a capability mask. */
const CAP_SYS_RESOURCE = 24n;

/** The file of the shim inside a bundle. */
export const SHIM_FILE = "rlimit-shim.so";

/** Whether a process with this effective set is refused other processes' limits (prlimit(2)). */
export function lacksResourceCapability(capEff: bigint): boolean {
  return ((capEff >> CAP_SYS_RESOURCE) & 1n) === 0n;
}

/** This process's effective capabilities. */
export async function readCapEff(proc = "/proc"): Promise<bigint> {
  const status = await readFile(`${proc}/self/status`, "utf8");
  return BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0"}`);
}

/** Compiles the preload shim with the machine's C compiler. Rejects where there is none. */
export async function compileShim(
  target: string,
  { compiler = "cc" }: { readonly compiler?: string } = {},
): Promise<void> {
  const source = join(packageRoot(), "native", "rlimit-shim.c");
  const flags = ["-O2", "-fPIC", "-shared", "-nostdlib", "-fno-builtin", "-fno-stack-protector"];
  await execa(compiler, [...flags, "-Wall", "-o", target, source]);
}
