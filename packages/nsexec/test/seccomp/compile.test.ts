import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { compileFilter, SESSION_RULES, SYSCALLS, sessionFilter } from "../../src/seccomp/index.js";

const X86_64 = 0xc000_003e;
const I386 = 0x4000_0003;
const HEADER = "/usr/include/x86_64-linux-gnu/asm/unistd_64.h";

interface Call {
  readonly number: number;
  readonly architecture?: number;
  readonly arguments?: readonly number[];
}

function verdict(filter: Buffer, call: Call): string {
  return run(filter, call).verdict;
}

/** How many instructions a call meets. */
function steps(filter: Buffer, number: number): number {
  return run(filter, { number }).steps;
}

/** Runs a filter as the kernel would: the few instructions of classic BPF that the compiler uses. */
function run(
  filter: Buffer,
  { number, architecture = X86_64, arguments: args = [] }: Call,
): { verdict: string; steps: number } {
  let steps = 0;
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; at * 8 < filter.length; at++) {
    steps++;
    const code = filter.readUInt16LE(at * 8);
    const [jt, jf] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    const k = filter.readUInt32LE(at * 8 + 4);
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x15) at += accumulator === k ? jt : jf;
    else if (code === 0x35) at += accumulator >= k ? jt : jf;
    else if (code === 0x45) at += (accumulator & k) !== 0 ? jt : jf;
    else if (code === 0x06) return { verdict: k === 0x7fff_0000 ? "allow" : `errno ${k & 0xffff}`, steps };
    else throw new Error(`instruction ${at} has the unknown code ${code}`);
  }
  throw new Error("the filter has no end");
}

const numberOf = (name: string) => SYSCALLS.get(name) ?? Number.NaN;
const ERRNO = { EPERM: "errno 1", ENOSYS: "errno 38", EAFNOSUPPORT: "errno 97" } as const;

test("every call that a session is refused outright gets its errno", () => {
  const filter = sessionFilter();
  for (const { calls, errno, when } of SESSION_RULES) {
    if (when) continue;
    for (const call of calls) expect(verdict(filter, { number: numberOf(call) }), call).toBe(ERRNO[errno]);
  }
});

test("every call that no rule names is allowed", () => {
  const filter = sessionFilter();
  const named = new Set(SESSION_RULES.flatMap(({ calls }) => calls));
  for (const [name, number] of SYSCALLS)
    if (!named.has(name)) expect(verdict(filter, { number }), name).toBe("allow");
});

test("clone is refused for a new namespace of any kind but not for a thread or a process", () => {
  const filter = sessionFilter();
  const clone = (flags: number) => verdict(filter, { number: numberOf("clone"), arguments: [flags] });
  for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
    expect(clone(flag | 17), flag.toString(16)).toBe("errno 1");
  expect(clone(0x3d0f00)).toBe("allow");
  expect(clone(17)).toBe("allow");
});

test("an ioctl is refused where it types into a terminal, in the lower half of its argument too", () => {
  const filter = sessionFilter();
  const ioctl = (request: number) => verdict(filter, { number: numberOf("ioctl"), arguments: [0, request] });
  expect(ioctl(0x5412)).toBe("errno 1");
  expect(ioctl(0x1_0000_5412)).toBe("errno 1");
  expect(ioctl(0x541c)).toBe("errno 1");
  expect(ioctl(0x5413)).toBe("allow");
});

test("a socket is refused by its family", () => {
  const filter = sessionFilter();
  const socket = (family: number) => verdict(filter, { number: numberOf("socket"), arguments: [family, 1] });
  for (const family of [38, 40, 44]) expect(socket(family)).toBe("errno 97");
  for (const family of [1, 2, 10, 16]) expect(socket(family)).toBe("allow");
});

test("a call after one whose argument was tested is still told by its number", () => {
  const filter = compileFilter([
    { calls: ["ioctl"], errno: "EPERM", when: { argument: 1, equals: numberOf("mount") } },
    { calls: ["mount"], errno: "ENOSYS" },
  ]);
  expect(verdict(filter, { number: numberOf("ioctl"), arguments: [0, 0] })).toBe("allow");
  expect(verdict(filter, { number: numberOf("mount") })).toBe("errno 38");
});

test("the i386 and x32 ABIs do not exist for a session", () => {
  const filter = sessionFilter();
  expect(verdict(filter, { number: 3, architecture: I386 })).toBe("errno 38");
  expect(verdict(filter, { number: 0x4000_0000 })).toBe("errno 38");
  expect(verdict(filter, { number: 0xffff_ffff })).toBe("errno 38");
});

test("a call meets few of the rules, however many there are", () => {
  const filter = sessionFilter();
  const longest = Math.max(...[...SYSCALLS.values()].map((number) => steps(filter, number)));
  expect(longest).toBeLessThan(60);
  expect(filter.length / 8).toBeGreaterThan(150);
});

test("many rules of one call are asked in their order", () => {
  const rules = Array.from({ length: 5 }, (_, value) => ({
    calls: ["ioctl"],
    errno: value < 3 ? ("EPERM" as const) : ("ENOSYS" as const),
    when: { argument: 1, equals: value },
  }));
  const filter = compileFilter([...rules, { calls: ["read", "write"], errno: "EPERM" }]);
  const verdicts = [0, 1, 2, 3, 4, 5].map((value) =>
    verdict(filter, { number: numberOf("ioctl"), arguments: [0, value] }),
  );
  expect(verdicts).toEqual([ERRNO.EPERM, ERRNO.EPERM, ERRNO.EPERM, ERRNO.ENOSYS, ERRNO.ENOSYS, "allow"]);
  expect(verdict(filter, { number: numberOf("write") })).toBe(ERRNO.EPERM);
});

test("a rule for a call that does not exist is an error with its name", () => {
  expect(() => compileFilter([{ calls: ["mont"], errno: "EPERM" }])).toThrow(
    expect.objectContaining({ code: "FILTER_INVALID", message: expect.stringContaining("mont") }),
  );
});

testNeeding([`file:${HEADER}`], "the table of calls is the kernel header's own", () => {
  const entries = readFileSync(HEADER, "utf8").matchAll(/^#define __NR_(\w+) (\d+)$/gm);
  for (const [, name = "", number] of entries) expect(SYSCALLS.get(name), name).toBe(Number(number));
});
