import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { bufferReader, parseElf, parseLoaderCache, RootfsError, readElf } from "../../src/index.js";
import { linkObject } from "../helpers/libraries.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const SHELL = readFileSync(realpathSync("/bin/sh"));

testNeeding(["program:readelf"], "the dynamic section is read as readelf reads it", async () => {
  for (const path of ["/bin/sh", process.execPath]) {
    const text = execFileSync("readelf", ["-dW", realpathSync(path)], { encoding: "utf8" });
    const needed = [...text.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name]) => name);
    expect((await readElf(realpathSync(path))).needed).toEqual(needed);
  }
});

testNeeding(
  ["program:gcc"],
  "sonames, run paths and flags; DT_RPATH counts only without a DT_RUNPATH",
  async () => {
    const folder = await temporaryFolder();
    const made = { soname: "liba.so.1", needs: ["libb.so.2"], flags: ["-Wl,-z,nodefaultlib"] };
    await linkObject(folder, "new.so", { ...made, runpath: "$ORIGIN:/opt" });
    await linkObject(folder, "old.so", { ...made, rpath: "/opt" });
    expect(await readElf(`${folder}/new.so`)).toEqual({
      bits: 64,
      machine: SHELL.readUInt16LE(18),
      needed: ["libb.so.2", "libc.so.6"],
      soname: "liba.so.1",
      runpath: "$ORIGIN:/opt",
      noDefaultLibraries: true,
    });
    expect(await readElf(`${folder}/old.so`)).toMatchObject({ rpath: "/opt" });
  },
);

test("what is no ELF file, is cut short, or speaks of places past its end is refused", async () => {
  await failure(() => parseElf(bufferReader(Buffer.from("#!/bin/sh\n".repeat(20)))), "NOT_ELF");
  await failure(() => parseElf(bufferReader(SHELL.subarray(0, 60))), "BAD_ELF");
  const many = Buffer.from(SHELL);
  many.writeUInt16LE(0xfffe, 56);
  await failure(() => parseElf(bufferReader(many)), "BAD_ELF");
  const far = Buffer.from(SHELL);
  far.writeBigUInt64LE(0xffff_ffff_ffff_fff0n, 32);
  await failure(() => parseElf(bufferReader(far)), "BAD_ELF");
});

test("no change of bytes makes the ELF reader fail otherwise, or ask for much", async () => {
  const changes = fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(changes, async (bytes) => {
      const spoilt = Buffer.from(SHELL);
      for (const [at, value] of bytes) spoilt[at] = value;
      let asked = 0;
      const read = (offset: number, length: number) => {
        asked += length;
        return bufferReader(spoilt)(offset, length);
      };
      await parseElf(read).catch((error: unknown) => expect(error).toBeInstanceOf(RootfsError));
      expect(asked).toBeLessThan(8 << 20);
    }),
    { numRuns: 300 },
  );
});

test("a loader cache is read or refused whatever its bytes", () => {
  const real = readFileSync("/etc/ld.so.cache");
  const entries = parseLoaderCache(real);
  expect(entries.find(({ name }) => name === "libc.so.6")?.path).toMatch(/^\/.*libc\.so\.6$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { minLength: 1, maxLength: 8 }), (bytes) => {
      const spoilt = Buffer.from(real);
      for (const [at, value] of bytes) spoilt[at] = value;
      try {
        parseLoaderCache(spoilt);
      } catch (error) {
        expect(error).toMatchObject({ code: "BAD_CACHE" });
      }
    }),
    { numRuns: 300 },
  );
});

testNeeding(
  ["program:gcc"],
  "the cache is the one that ldconfig -p prints, also behind the old format's entries",
  () => {
    const real = readFileSync("/etc/ld.so.cache");
    const printed = execFileSync("/sbin/ldconfig", ["-p"], { encoding: "utf8" }).split("\n");
    const pairs = printed.map((line) => /^\t(\S+) \(.*\) => (\S+)$/.exec(line)?.slice(1)).filter(Boolean);
    expect(parseLoaderCache(real).map(({ name, path }) => [name, path])).toEqual(pairs);
    const old = Buffer.alloc(16 + 12 + 4);
    old.write("ld.so-1.7.0\0", 0, "latin1");
    old.writeUInt32LE(1, 12);
    expect(parseLoaderCache(Buffer.concat([old, real]))).toEqual(parseLoaderCache(real));
  },
);
