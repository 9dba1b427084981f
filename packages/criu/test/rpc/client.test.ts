import { closeSync, openSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { criu_req_type, criu_respSchema } from "../../src/gen/rpc_pb.js";
import {
  assertUsable,
  type Criu,
  callCriu,
  checkCriu,
  queryCheck,
  queryFeatures,
  queryVersion,
} from "../../src/index.js";
import { CRIU_NEEDS, testCriu } from "../helpers/criu.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "drums-rpc-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A shell script in criu's place. */
async function standIn(script: string): Promise<Criu> {
  const file = join(folder, "criu");
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return { version: "9", file, argv: [], source: "system", digest: "none" };
}

testNeeding(CRIU_NEEDS, "a running criu tells its version and features", async () => {
  const criu = await testCriu();
  expect(await queryVersion(criu)).toBe("4.2.1");
  expect(await queryFeatures(criu)).toEqual({
    memTrack: expect.any(Boolean),
    lazyPages: expect.any(Boolean),
    pidfdStore: expect.any(Boolean),
  });
});

testNeeding(CRIU_NEEDS, "the check says that this kernel serves it", async () => {
  const criu = await testCriu();
  const check = await checkCriu(criu);
  expect(check).toMatchObject({ version: "4.2.1", usable: true, problems: [] });
  expect(() => assertUsable(criu, check)).not.toThrow();
});

testNeeding(CRIU_NEEDS, "the check is asked over the socket too", async () => {
  expect(await queryCheck(await testCriu())).toBe(true);
});

testNeeding(CRIU_NEEDS, "a request of half a megabyte is answered, and its failure explained", async () => {
  const images = openSync(folder, "r");
  try {
    const skipMnt = Array.from({ length: 2_000 }, (_, index) => `/no/such/mount/${index}/`.padEnd(60, "x"));
    const opts = { imagesDirFd: images, pid: 2 ** 22 - 1, skipMnt, logFile: "x.log" };
    const response = await callCriu(await testCriu(), { type: criu_req_type.DUMP, opts });
    expect(response).toMatchObject({ type: criu_req_type.DUMP, success: false });
  } finally {
    closeSync(images);
  }
});

testNeeding(["root"], "an answer far above eight kilobytes is read whole", async () => {
  const crErrmsg = "x".repeat(150_000);
  const answer = toBinary(
    criu_respSchema,
    create(criu_respSchema, { type: criu_req_type.VERSION, success: false, crErrmsg }),
  );
  await writeFile(join(folder, "answer"), answer);
  const send = `require("fs").writeSync(3, require("fs").readFileSync("${join(folder, "answer")}"))`;
  const criu = await standIn(`exec ${process.execPath} -e '${send}'`);
  expect((await callCriu(criu, { type: criu_req_type.VERSION })).crErrmsg).toBe(crErrmsg);
});

testNeeding(["root"], "a wrong option is refused before criu is started", async () => {
  const criu: Criu = { version: "9", file: join(folder, "none"), argv: [], source: "system", digest: "none" };
  const call = callCriu(criu, { type: criu_req_type.DUMP, opts: { imagesDirFd: -1 } });
  await expect(call).rejects.toMatchObject({ code: "RPC_ARGUMENT", facts: { option: "imagesDirFd" } });
});

testNeeding(["root"], "a criu that fails its check is refused with its own words", async () => {
  const criu = await standIn(
    "echo 'Error (criu/kerndat.c:1): Could not initialize kernel features detection.' >&2; exit 1",
  );
  const check = await checkCriu(criu);
  expect(check.usable).toBe(false);
  expect(() => assertUsable(criu, check)).toThrowError(
    expect.objectContaining({
      code: "CRIU_UNUSABLE",
      message: expect.stringContaining("kernel features detection"),
    }),
  );
});

testNeeding(["root"], "a program that cannot be run is refused by name", async () => {
  const criu: Criu = { version: "9", file: join(folder, "none"), argv: [], source: "system", digest: "none" };
  await expect(checkCriu(criu)).rejects.toMatchObject({
    code: "CRIU_UNUSABLE",
    message: expect.stringContaining("none"),
  });
});

testNeeding(["root"], "a criu that exits without an answer gives its exit status", async () => {
  const call = callCriu(await standIn("exit 3"), { type: criu_req_type.VERSION });
  await expect(call).rejects.toMatchObject({ code: "RPC_CLOSED", facts: { how: "exit status 3" } });
});

testNeeding(["root"], "a criu that never answers is ended after its time", async () => {
  const call = callCriu(await standIn("exec sleep 100"), { type: criu_req_type.VERSION }, { timeoutMs: 200 });
  await expect(call).rejects.toMatchObject({ code: "RPC_TIMEOUT" });
});

testNeeding(["root"], "a program that answers something else is no criu", async () => {
  const criu = await standIn("exec /bin/echo 'not protobuf' >&3");
  await expect(callCriu(criu, { type: criu_req_type.VERSION })).rejects.toMatchObject({
    code: "RPC_PROTOCOL",
  });
});

testNeeding(["root"], "a call whose signal is aborted already starts nothing", async () => {
  const criu: Criu = { version: "9", file: join(folder, "none"), argv: [], source: "system", digest: "none" };
  await expect(
    callCriu(criu, { type: criu_req_type.VERSION }, { signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({ code: "RPC_ABORTED" });
});
