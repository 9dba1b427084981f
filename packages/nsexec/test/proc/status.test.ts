import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseStatus, readStatus } from "../../src/proc/index.js";

const fixture = readFileSync(new URL("../fixtures/proc/status-nested", import.meta.url), "utf8");

test("a process two pid namespaces down is read whole", () => {
  expect(parseStatus(fixture)).toEqual({
    name: "a\nb\\c d",
    pid: 5012,
    ppid: 5001,
    state: "S",
    tracerPid: 0,
    uids: { real: 201000, effective: 200000, saved: 201000, fs: 201001 },
    gids: { real: 201000, effective: 201000, saved: 201000, fs: 201000 },
    groups: [201000, 200027],
    nspid: [5012, 31, 7],
    threads: 3,
    capInh: 0n,
    capPrm: 0x1ffn,
    capEff: 0x1ffn,
    capBnd: 0x1ffffffffffn,
    capAmb: 0n,
    noNewPrivs: true,
    seccomp: 2,
    vmRssKib: 3412,
  });
});

test("a zombie has no memory and a process may have no groups", () => {
  const zombie = fixture.replace(/^Vm.*\n/gm, "").replace(/^Groups:.*$/m, "Groups:\t ");
  const status = parseStatus(zombie);
  expect(status.groups).toEqual([]);
  expect(status).not.toHaveProperty("vmRssKib");
});

test("a text without a field that every kernel writes is refused by the field's name", () => {
  expect(() => parseStatus(fixture.replace(/^NSpid.*\n/m, ""))).toThrow(/NSpid/);
  expect(() => parseStatus(fixture.replace(/^CapEff:\t\w+/m, "CapEff:\tzz"))).toThrow(/CapEff/);
  expect(() => parseStatus(fixture.replace(/^Uid:.*$/m, "Uid:\t1\t2"))).toThrow(/Uid/);
});

test("this process is read", async () => {
  const status = await readStatus("self");
  expect(status).toMatchObject({ pid: process.pid, ppid: process.ppid, tracerPid: 0 });
  expect(status.uids.real).toBe(process.getuid?.());
  expect(status.nspid[0]).toBe(process.pid);
});
