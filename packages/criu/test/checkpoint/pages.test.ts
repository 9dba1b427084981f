import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { dump, imageSizes, preDump, queryFeatures, startPageServer } from "../../src/index.js";
import { CRIU_NEEDS, testCriu } from "../helpers/criu.js";
import { launchTiny, type TinySession, until } from "../helpers/session.js";

let session: TinySession;
beforeEach(async () => {
  session = await launchTiny();
  await until("the count", async () => Number(await session.read("count")) > 0 || undefined);
});
afterEach(() => session.end());

/** A server that has ended is the host's to reap. */
function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

const folder = (name: string) => join(session.folder, name);

testNeeding(CRIU_NEEDS, "a dump's pages go to a page server, which ends when it has them", async () => {
  const criu = await testCriu();
  const server = await startPageServer({ criu, imagesDir: folder("pages") });
  try {
    expect(server.port).toBeGreaterThan(0);
    const ps = { address: server.address, port: server.port };
    const report = await dump({ criu, pid: session.pid, imagesDir: folder("images"), options: { ps } });
    await server.ended;
    expect((await imageSizes(folder("images"))).pages).toBe(0);
    const { pages } = await imageSizes(folder("pages"));
    expect(pages).toBe((report.stats?.pagesWritten ?? 0) * 4096);
    expect(pages).toBeGreaterThan(0);
  } finally {
    await server.close();
  }
  expect(isAlive(server.pid)).toBe(false);
});

testNeeding(CRIU_NEEDS, "a page server that nobody uses is ended", async () => {
  const server = await startPageServer({ criu: await testCriu(), imagesDir: folder("pages") });
  await server.close();
  expect(isAlive(server.pid)).toBe(false);
});

testNeeding(CRIU_NEEDS, "a pre-dump saves memory beforehand, or says that this kernel cannot", async () => {
  const criu = await testCriu();
  const { memTrack } = await queryFeatures(criu);
  const call = preDump({ criu, pid: session.pid, imagesDir: folder("before") });
  if (!memTrack) {
    await expect(call).rejects.toMatchObject({ code: "FEATURE_MISSING", facts: { feature: "memTrack" } });
    expect(existsSync(folder("before"))).toBe(false);
    return;
  }
  await call;
  mkdirSync(folder("images"));
  const options = { parentImg: "../before", trackMem: true };
  await dump({ criu, pid: session.pid, imagesDir: folder("images"), options });
  const bytes = (name: string) =>
    readdirSync(folder(name))
      .filter((file) => file.startsWith("pages-"))
      .reduce((sum, file) => sum + statSync(join(folder(name), file)).size, 0);
  expect(bytes("images")).toBeLessThan(bytes("before"));
});
