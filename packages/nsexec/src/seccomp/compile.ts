import { constants } from "node:os";
import { NsexecError } from "../errors.js";
import { SYSCALLS } from "./syscalls.js";

/** Errnos that a filter may answer with. */
export type FilterErrno = "EPERM" | "ENOSYS" | "EAFNOSUPPORT";

/** A test of the lower 32 bits of one argument (0 … 5); all that the kernel reads of an int or of clone's flags. */
export type ArgumentTest =
  | { readonly argument: number; readonly equals: number }
  | { readonly argument: number; readonly anyBitOf: number };

/** Calls that are refused: all of them, or where an argument passes the test. */
export interface FilterRule {
  readonly calls: readonly string[];
  readonly errno: FilterErrno;
  readonly when?: ArgumentTest;
}

/** One instruction of classic BPF, as struct sock_filter (linux/filter.h) has it. */
interface Instruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

/** Opcodes of linux/bpf_common.h, put together as this compiler uses them. */
const BPF = { LOAD: 0x20, JEQ: 0x15, JGE: 0x35, JSET: 0x45, RETURN: 0x06 } as const;

/** Offsets in struct seccomp_data (linux/seccomp.h), little-endian. */
const DATA = { number: 0, architecture: 4, argument: (index: number) => 16 + 8 * index } as const;

const AUDIT_ARCH_X86_64 = 0xc000_003e;
/** Numbers of the x32 ABI carry this bit (asm/unistd.h). */
const X32_BIT = 0x4000_0000;
const ALLOW = 0x7fff_0000;
const ERRNO = 0x0005_0000;

/**
 * Compiles a deny list to a seccomp filter for x86_64. The i386 and x32 ABIs get ENOSYS whole, because
 * their numbers mean other calls. What no rule names is allowed: the kernel then caches the verdict
 * (since 5.11). It finds that out by trying every call when the filter is installed, so the rules lie in blocks by
 * number, of which a call meets its own alone.
 * @throws NsexecError code FILTER_INVALID for an unknown call
 */
export function compileFilter(rules: readonly FilterRule[]): Buffer {
  const program: Instruction[] = [
    load(DATA.architecture),
    jump(BPF.JEQ, AUDIT_ARCH_X86_64, 1, 0),
    refuse("ENOSYS"),
    load(DATA.number),
    jump(BPF.JGE, X32_BIT, 0, 1),
    refuse("ENOSYS"),
    ...compileBlocks(testsByNumber(rules)),
    ALLOWED,
  ];
  return Buffer.concat(program.map(toBytes));
}

/** What is asked of one call; a call of several rules is asked in their order. */
interface CallTests {
  readonly number: number;
  readonly instructions: readonly Instruction[];
}

function testsByNumber(rules: readonly FilterRule[]): CallTests[] {
  const tests = new Map<number, Instruction[]>();
  for (const { calls, ...rule } of rules)
    for (const number of calls.map(numberOf))
      tests.set(number, [...(tests.get(number) ?? []), ...compileTest(number, rule)]);
  return [...tests]
    .map(([number, instructions]) => ({ number, instructions }))
    .sort((one, other) => one.number - other.number);
}

/** A jump reaches 255 instructions, and a block of the longest tests that there are has half of that. */
const BLOCK_CALLS = 8;

/** Each block is passed over by the calls above it and ends for those that it holds. */
function compileBlocks(tests: readonly CallTests[]): Instruction[] {
  const block = tests.slice(0, BLOCK_CALLS).flatMap(({ instructions }) => instructions);
  const above = tests.slice(BLOCK_CALLS);
  const [next] = above;
  if (next === undefined) return block;
  return [jump(BPF.JGE, next.number, block.length + 1, 0), ...block, ALLOWED, ...compileBlocks(above)];
}

function compileTest(number: number, { errno, when }: Omit<FilterRule, "calls">): Instruction[] {
  if (when === undefined) return [jump(BPF.JEQ, number, 0, 1), refuse(errno)];
  // The argument takes the number's place in the accumulator; it is loaded again afterwards.
  return [
    jump(BPF.JEQ, number, 0, 4),
    load(DATA.argument(when.argument)),
    "equals" in when ? jump(BPF.JEQ, when.equals, 0, 1) : jump(BPF.JSET, when.anyBitOf, 0, 1),
    refuse(errno),
    load(DATA.number),
  ];
}

function numberOf(name: string): number {
  const number = SYSCALLS.get(name);
  if (number !== undefined) return number;
  throw new NsexecError("FILTER_INVALID", `there is no system call named ${name} on x86_64`, {
    hint: "Write it as in syscalls(2).",
  });
}

const ERRNOS: Readonly<Record<FilterErrno, number>> = {
  EPERM: constants.errno.EPERM,
  ENOSYS: constants.errno.ENOSYS,
  EAFNOSUPPORT: constants.errno.EAFNOSUPPORT,
};

function refuse(errno: FilterErrno): Instruction {
  return { code: BPF.RETURN, jt: 0, jf: 0, k: ERRNO | ERRNOS[errno] };
}

const ALLOWED: Instruction = { code: BPF.RETURN, jt: 0, jf: 0, k: ALLOW };

function load(offset: number): Instruction {
  return { code: BPF.LOAD, jt: 0, jf: 0, k: offset };
}

/** Skips `jt` instructions where the comparison holds, else `jf`. */
function jump(code: number, k: number, jt: number, jf: number): Instruction {
  return { code, jt, jf, k };
}

function toBytes({ code, jt, jf, k }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jt, 2);
  bytes.writeUInt8(jf, 3);
  bytes.writeUInt32LE(k >>> 0, 4);
  return bytes;
}
