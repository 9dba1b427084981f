import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { pstree_entrySchema } from "../../src/gen/images_pb.js";
import { MAGIC } from "../../src/images/reader.js";
import { dump, dumpedLimits, inspectImages, ownLimits, readDemands } from "../../src/index.js";
import { CRIU_NEEDS, testCriu } from "../helpers/criu.js";
import { COUNT, launchTiny, until } from "../helpers/session.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "drums-images-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An image file of CRIU's own form. */
function image(magic: number, ...entries: Uint8Array[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x54564319, 0);
  head.writeUInt32LE(magic, 4);
  return Buffer.concat([head, ...entries.flatMap((entry) => [length(entry.length), Buffer.from(entry)])]);
}

function length(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const init = toBinary(pstree_entrySchema, create(pstree_entrySchema, { pid: 1, threads: [1] }));

testNeeding(CRIU_NEEDS, "a dump is read without CRIU: its tree, files, memory and mounts", async () => {
  const session = await launchTiny(`echo 1234567 >/kept; exec 5>>/kept 6<>/kept; ${COUNT}`);
  try {
    await until("the count", async () => Number(await session.read("count")) > 0 || undefined);
    await dump({ criu: await testCriu(), pid: session.pid, imagesDir: folder });
  } finally {
    await session.end();
  }
  const { processes, mounts, idMaps, sizes } = await inspectImages(folder);
  const demands = await readDemands(folder);
  expect(demands).toMatchObject({ processes: processes.length, inotifyInstances: 0, inotifyWatches: 0 });
  expect(demands.threads).toBe(processes.reduce((sum, { threads }) => sum + threads, 0));
  expect(demands.memoryBytes).toBe(sizes.pages + sizes.ghosts + sizes.tmpfs);
  expect(demands.copiedUpBytes).toBeGreaterThanOrEqual("1234567\n".length);
  const [shell] = processes;
  expect(shell).toMatchObject({ pid: 1, ppid: 0, name: "sh", state: "alive", threads: 1, uid: 0 });
  expect(shell?.descriptors).toContainEqual({ fd: 5, kind: "file", path: "/kept" });
  expect(shell?.limits.get("nofile")).toBeGreaterThan(0);
  expect(shell?.memory.exe).toBe("/bin/sh");
  expect(processes.some(({ name, ppid }) => name === "sleep" && ppid === 1)).toBe(true);

  const mappings = shell?.memory.mappings ?? [];
  expect(mappings).toContainEqual(
    expect.objectContaining({ kind: "file", path: "/bin/sh", permissions: "r-xp" }),
  );
  const heap = mappings.find(({ kind }) => kind === "heap");
  expect(heap?.savedBytes).toBeGreaterThan(0);
  const saved = processes.reduce((sum, { memory }) => sum + memory.savedBytes, 0);
  expect(saved).toBe(sizes.pages);
  const files = readdirSync(folder).filter((name) => name.startsWith("pages-"));
  expect(sizes.pages).toBe(files.reduce((sum, name) => sum + readFileSync(join(folder, name)).length, 0));

  expect(mounts.map(({ mountPoint }) => mountPoint)).toEqual(expect.arrayContaining(["/", "/proc", "/tmp"]));
  expect(idMaps).toBeUndefined();
  expect(await dumpedLimits(folder)).toEqual(await ownLimits());

  await survivesDamage();
  const core = join(folder, "core-1.img");
  writeFileSync(core, readFileSync(core).subarray(0, -5));
  await expect(inspectImages(folder)).rejects.toMatchObject({ code: "IMAGE_INVALID", facts: { path: core } });
});

/** Changes bytes all over each image that is read, one at a time: it is read or refused by name, and nothing else. */
async function survivesDamage(): Promise<void> {
  const names = readdirSync(folder).filter((name) =>
    /^(?:pstree|files|core-1|ids-1|mm-1|pagemap-1|fdinfo-\d+|mountpoints-\d+)\.img$/.test(name),
  );
  expect(names.length).toBeGreaterThan(7);
  for (const name of names) {
    const whole = readFileSync(join(folder, name));
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8((whole[at] ?? 0) ^ 0xff, at);
      writeFileSync(join(folder, name), damaged);
      const fault = await inspectImages(folder).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (fault !== undefined) expect(fault, `${name} at ${at}`).toMatchObject({ code: "IMAGE_INVALID" });
    }
    writeFileSync(join(folder, name), whole);
  }
}

test.each([
  ["another kind of image", image(MAGIC.core, init), /magic numbers/],
  [
    "an entry longer than the file",
    Buffer.concat([image(MAGIC.pstree), length(0xffff_fff0)]),
    /beyond its end/,
  ],
  [
    "a file cut inside a length",
    Buffer.concat([image(MAGIC.pstree, init), Buffer.alloc(2)]),
    /inside a length/,
  ],
  ["bytes that are no message", image(MAGIC.pstree, Buffer.from([0x0a, 0xff, 0xff])), /no message/],
  ["the same process twice", image(MAGIC.pstree, init, init), /twice/],
  ["no bytes at all", Buffer.alloc(0), /magic numbers/],
])("a pstree that is %s is refused by name", async (_, bytes, why) => {
  writeFileSync(join(folder, "pstree.img"), bytes);
  await expect(inspectImages(folder)).rejects.toMatchObject({
    code: "IMAGE_INVALID",
    message: expect.stringMatching(why),
    facts: { path: join(folder, "pstree.img") },
  });
});

test("an image that is a link, or missing, is refused and not followed", async () => {
  await expect(inspectImages(folder)).rejects.toThrow(/pstree.img is no sound CRIU image: it is missing/);
  symlinkSync("/dev/zero", join(folder, "pstree.img"));
  await expect(inspectImages(folder)).rejects.toThrow(/it is a link/);
});

test("a tree whose processes have no other image is told with what is known", async () => {
  writeFileSync(join(folder, "pstree.img"), image(MAGIC.pstree, init));
  expect((await inspectImages(folder)).processes).toMatchObject([
    { pid: 1, name: "", state: "unknown", descriptors: [], memory: { mappings: [], savedBytes: 0 } },
  ]);
});
