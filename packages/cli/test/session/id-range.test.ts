import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { nextIdBase, RANGE_SIZE } from "../../src/session/id-range.js";

const FIRST = 0x1000_0000;
const COUNT = (0xefff_0000 - FIRST) / RANGE_SIZE + 1;

let home: Home;
let proc: string;

beforeEach(async () => {
  home = await createHome(homeAt(await mkdtemp(join(tmpdir(), "drums-ids-"))));
  proc = join(home.path, "proc");
  await mkdir(proc);
});
afterEach(() => rm(home.path, { recursive: true }));

const record = async (room: "sessions" | "checkpoints", name: string, file: string, text: string) => {
  await mkdir(home.entry(room, name));
  await writeFile(join(home.entry(room, name), file), text);
};

const process = async (pid: number, map: string) => {
  await mkdir(join(proc, String(pid)));
  await writeFile(join(proc, String(pid), "uid_map"), map);
};

test("families get ranges one after another, and none that a session or a checkpoint has", async () => {
  expect(await nextIdBase(home, { proc })).toBe(FIRST);
  await record("sessions", "one", "session.json", JSON.stringify({ spec: { idBase: FIRST } }));
  await record("checkpoints", "c", "checkpoint.json", JSON.stringify({ a: { idBase: FIRST + RANGE_SIZE } }));
  expect(await nextIdBase(home, { proc })).toBe(FIRST + 2 * RANGE_SIZE);
});

test("a range is free again once nothing of its family is left", async () => {
  await record("sessions", "one", "session.json", JSON.stringify({ spec: { idBase: FIRST } }));
  await rm(home.entry("sessions", "one"), { recursive: true });
  expect(await nextIdBase(home, { proc })).toBe(FIRST);
});

test("a record of another version, or one that is cut off, still holds its range", async () => {
  await record("sessions", "odd", "session.json", `{"version": 99, "idBase": ${FIRST}, "spec": {`);
  expect(await nextIdBase(home, { proc })).toBe(FIRST + RANGE_SIZE);
});

test("a range of another home's session or of somebody else's container is passed over", async () => {
  await process(1, "         0          0 4294967295\n");
  await process(70, `         0 ${FIRST}      65536\n`);
  await process(80, `         0 ${FIRST + RANGE_SIZE + 5}      65536\n`);
  expect(await nextIdBase(home, { proc })).toBe(FIRST + 3 * RANGE_SIZE);
});

test("exhausted ranges are an error that says who holds them", async () => {
  const all = Array.from({ length: COUNT }, (_, index) => `"idBase": ${FIRST + index * RANGE_SIZE}`);
  await record("checkpoints", "greedy", "checkpoint.json", all.join("\n"));
  await expect(nextIdBase(home, { proc })).rejects.toMatchObject({
    code: "ID_RANGES_EXHAUSTED",
    exitCode: 3,
    why: expect.stringContaining(String(COUNT)),
    hint: expect.stringContaining("drums rm"),
  });
});
