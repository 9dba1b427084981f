import { NsexecError } from "../errors.js";

/** Capabilities by their bit, from <linux/capability.h>. */
const NAMES = [
  "CHOWN",
  "DAC_OVERRIDE",
  "DAC_READ_SEARCH",
  "FOWNER",
  "FSETID",
  "KILL",
  "SETGID",
  "SETUID",
  "SETPCAP",
  "LINUX_IMMUTABLE",
  "NET_BIND_SERVICE",
  "NET_BROADCAST",
  "NET_ADMIN",
  "NET_RAW",
  "IPC_LOCK",
  "IPC_OWNER",
  "SYS_MODULE",
  "SYS_RAWIO",
  "SYS_CHROOT",
  "SYS_PTRACE",
  "SYS_PACCT",
  "SYS_ADMIN",
  "SYS_BOOT",
  "SYS_NICE",
  "SYS_RESOURCE",
  "SYS_TIME",
  "SYS_TTY_CONFIG",
  "MKNOD",
  "LEASE",
  "AUDIT_WRITE",
  "AUDIT_CONTROL",
  "SETFCAP",
  "MAC_OVERRIDE",
  "MAC_ADMIN",
  "SYSLOG",
  "WAKE_ALARM",
  "BLOCK_SUSPEND",
  "AUDIT_READ",
  "PERFMON",
  "BPF",
  "CHECKPOINT_RESTORE",
];

/** What a desktop with sudo, su, useradd, dpkg and a server on port 80 was seen to need, and no more. */
export const SESSION_CAPABILITIES: readonly string[] = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "KILL",
  "SETGID",
  "SETUID",
  "NET_BIND_SERVICE",
  "SYS_CHROOT",
  "SETFCAP",
];

/** A set of capabilities as the kernel's bit mask. @throws NsexecError code PLAN_INVALID for an unknown name */
export function capabilityMask(names: readonly string[]): bigint {
  return names.reduce((mask, name) => mask | (1n << BigInt(bitOf(name))), 0n);
}

/** The other way round: names, without CAP_, of the bits of a mask; a bit that has none yet is `CAP_N`. */
export function capabilityNames(mask: bigint): string[] {
  const bits = Array.from({ length: 64 }, (_, bit) => bit).filter((bit) => (mask >> BigInt(bit)) & 1n);
  return bits.map((bit) => NAMES[bit] ?? `CAP_${bit}`);
}

function bitOf(name: string): number {
  const bit = NAMES.indexOf(name.replace(/^CAP_/, ""));
  if (bit >= 0) return bit;
  throw new NsexecError("PLAN_INVALID", `there is no capability named ${name}`, {
    hint: "Write it as in capabilities(7), for example NET_BIND_SERVICE.",
  });
}
