import { copyFile, mkdir, open, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { auditLibraries, readProcessor } from "../../src/index.js";
import { listedByLoader, parseLoaderList } from "../helpers/in-root.js";
import { type Linked, linkObject, rootWithLibc } from "../helpers/libraries.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const NEEDS = ["root", "program:gcc"] as const;

const braced = (token: string) => `$\{${token}}`;

/** What we find and what the root's own loader finds, run in a session, both in the loader's order. */
async function bothOf(root: string, loader: string, program: string) {
  const audit = await auditLibraries(root, { program });
  const ours = audit.libraries.map(({ path }) => path);
  const missing = audit.missing.map(({ name }) => `${name} not found`);
  const theirs = await listedByLoader(root, loader, program);
  return {
    audit,
    ours,
    missing,
    theirs: theirs.filter((line) => !line.endsWith(" not found")),
    theirMissing: theirs.filter((line) => line.endsWith(" not found")),
  };
}

/** Makes a root with objects, refreshes its cache, and expects no difference. */
async function expectSame(
  objects: Readonly<Record<string, Linked>>,
  prepare: (root: string, libs: string) => Promise<unknown> = async () => {},
) {
  const { root, loader, libs } = await rootWithLibc(await temporaryFolder());
  for (const [path, linked] of Object.entries(objects))
    await linkObject(root, path.replace("LIBS", libs), linked, path !== "/usr/bin/program");
  await prepare(root, libs);
  await execa("/sbin/ldconfig", ["-r", root]);
  const result = await bothOf(root, loader, "/usr/bin/program");
  expect(result.ours).toEqual(result.theirs);
  expect(result.missing).toEqual(result.theirMissing);
  return { ...result, root, libs };
}

testNeeding(NEEDS, "DT_RUNPATH is the asking object's alone, DT_RPATH its loaders' too", async () => {
  const { audit } = await expectSame({
    "/usr/bin/program": { needs: ["liba.so", "libdeep.so"], runpath: "$ORIGIN/../../opt/near:/opt/far" },
    "/opt/near/liba.so": { needs: ["libonly.so"] },
    "/opt/near/libonly.so": {},
    "/opt/far/libdeep.so": { needs: ["libfar.so"], runpath: `${braced("ORIGIN")}/inner` },
    "/opt/far/inner/libfar.so": {},
  });
  expect(audit.missing).toMatchObject([{ name: "libonly.so", neededBy: "/usr/bin/../../opt/near/liba.so" }]);
  const inherited = await expectSame({
    "/usr/bin/program": { needs: ["liba.so"], rpath: "/opt/near" },
    "/opt/near/liba.so": { needs: ["libonly.so"] },
    "/opt/near/libonly.so": { needs: ["libc.so.6"] },
  });
  expect(inherited.audit.missing).toEqual([]);
  expect(inherited.audit.libraries.map(({ route }) => route)).toEqual([
    "rpath",
    "cache",
    "rpath",
    "interpreter",
  ]);
});

testNeeding(NEEDS, "an absolute path and an absolute link lead inside the root", async () => {
  const { audit } = await expectSame(
    { "/usr/bin/program": { needs: ["liba.so"], runpath: "/opt/link" }, "/opt/real/liba.so": {} },
    (root) => symlink("/opt/real", join(root, "opt/link")),
  );
  expect(audit.libraries[0]).toMatchObject({ path: "/opt/link/liba.so", file: "/opt/real/liba.so" });
});

testNeeding(NEEDS, "$LIB and $PLATFORM stand for what the root's loader makes of them", async () => {
  const { platform } = await readProcessor();
  const { audit } = await expectSame(
    {
      "/usr/bin/program": {
        needs: ["liba.so", "libb.so"],
        runpath: `/opt/$LIB:/opt/${braced("PLATFORM")}x:/opt/$LIBx`,
      },
      "/opt/LIBS/liba.so": {},
      [`/opt/${platform}x/libb.so`]: {},
    },
    async (root, libs) => {
      // "LIBS" above is /usr/lib/TRIPLET; $LIB is lib/TRIPLET.
      await mkdir(join(root, "opt/lib"), { recursive: true });
      await symlink(
        `../usr/lib/${libs.slice("/usr/lib/".length)}`,
        join(root, "opt", libs.slice("/usr/".length)),
      );
    },
  );
  expect(audit.missing).toEqual([]);
});

testNeeding(NEEDS, "the processor's glibc-hwcaps come first, in folders and in the cache", async () => {
  const best = (await readProcessor()).hwcaps.at(-1);
  const hwcaps = best === undefined ? [] : [`glibc-hwcaps/${best}`];
  const objects: Record<string, Linked> = {
    "/usr/bin/program": { needs: ["liba.so", "libcached.so.1"], runpath: "/opt/near" },
    "/opt/near/liba.so": {},
    "LIBS/libcached.so.1": { soname: "libcached.so.1" },
    "/opt/near/glibc-hwcaps/x86-64-v9/liba.so": {},
  };
  for (const folder of hwcaps) {
    objects[`/opt/near/${folder}/liba.so`] = {};
    objects[`LIBS/${folder}/libcached.so.1`] = { soname: "libcached.so.1" };
  }
  const { audit } = await expectSame(objects);
  const found = audit.libraries.filter(({ path }) => path.includes("glibc-hwcaps"));
  expect(found).toHaveLength(hwcaps.length * 2);
});

testNeeding(NEEDS, "each file and each soname is loaded once, breadth first", async () => {
  const { audit } = await expectSame(
    {
      "/usr/bin/program": { needs: ["libone.so", "libtwo.so", "libalias.so"], runpath: "/opt/near" },
      "/opt/near/libone.so": { soname: "libreal.so.9", needs: ["libthree.so"], runpath: "/opt/near" },
      "/opt/near/libtwo.so": { needs: ["libreal.so.9", "libthree.so"], runpath: "/opt/near" },
      "/opt/near/libthree.so": { needs: ["libone.so", "libc.so.6"], runpath: "/opt/near" },
    },
    (root) => symlink("libthree.so", join(root, "opt/near/libalias.so")),
  );
  expect(audit.libraries.map(({ name }) => name)).toEqual([
    "libone.so",
    "libtwo.so",
    "libalias.so",
    "libc.so.6",
    "ld-linux-x86-64.so.2",
  ]);
});

testNeeding(
  NEEDS,
  "-z nodefaultlib goes without the default folders, and without the cache's of them",
  async () => {
    const objects = (flags: string[]): Record<string, Linked> => ({
      "/usr/bin/program": { needs: ["liba.so.1"], flags },
      "LIBS/liba.so.1": { soname: "liba.so.1" },
    });
    expect((await expectSame(objects([]))).audit.missing).toEqual([]);
    const { audit } = await expectSame(objects(["-Wl,-z,nodefaultlib"]));
    expect(audit.missing.map(({ name }) => name)).toContain("liba.so.1");
  },
);

testNeeding(
  NEEDS,
  "a library for another machine is passed over, one that is none ends the search",
  async () => {
    const { root, libs } = await expectSame(
      {
        "/usr/bin/program": { needs: ["liba.so"], runpath: "/opt/other:/opt/near" },
        "/opt/near/liba.so": {},
        "/opt/other/liba.so": {},
      },
      async (folder) => {
        const other = await open(join(folder, "opt/other/liba.so"), "r+");
        await other.write(Buffer.from([1]), 0, 1, 4); // ELFCLASS32
        await other.close();
      },
    );
    expect(libs).toContain("/usr/lib");
    await writeFile(join(root, "opt/other/liba.so"), "no library");
    const { missing } = await auditLibraries(root, { program: "/usr/bin/program" });
    expect(missing).toMatchObject([{ name: "liba.so", reason: expect.stringContaining("no library") }]);
  },
);

testNeeding(
  NEEDS,
  "a library in a folder of ld.so.conf that is not in the cache is named with the remedy",
  async () => {
    const { root } = await expectSame({ "/usr/bin/program": { needs: ["liblate.so"] } }, async (folder) => {
      await mkdir(join(folder, "etc/ld.so.conf.d"));
      await writeFile(join(folder, "etc/ld.so.conf"), "include /etc/ld.so.conf.d/*.conf\n");
      await writeFile(join(folder, "etc/ld.so.conf.d/late.conf"), "# late\n/opt/late\n");
    });
    await linkObject(root, "/opt/late/liblate.so", {});
    const before = await auditLibraries(root, { program: "/usr/bin/program" });
    expect(before.missing).toMatchObject([{ name: "liblate.so", seenIn: "/opt/late" }]);
    expect(before.findings[0]).toMatchObject({
      status: "problem",
      remedy: expect.stringContaining("ldconfig"),
    });
    await execa("/sbin/ldconfig", ["-r", root]);
    expect((await auditLibraries(root, { program: "/usr/bin/program" })).missing).toEqual([]);
  },
);

testNeeding(NEEDS, "a run path that means the current folder is a note", async () => {
  const { root } = await expectSame({ "/usr/bin/program": { runpath: "/opt::lib" } });
  const { findings } = await auditLibraries(root, { program: "/usr/bin/program" });
  expect(findings.map(({ name, detail }) => [name, detail])).toMatchObject([
    ["runpath", expect.stringContaining("an empty element")],
    ["runpath", expect.stringContaining('"lib"')],
  ]);
});

testNeeding(NEEDS, "a script stands for its interpreter; what is no program is refused", async () => {
  const { root, loader } = await rootWithLibc(await temporaryFolder());
  await linkObject(root, "/usr/bin/program", {}, false);
  await writeFile(join(root, "usr/bin/script"), "#! /usr/bin/env -S program\n");
  await writeFile(join(root, "usr/bin/outer"), "#!/usr/bin/script\n");
  await writeFile(join(root, "usr/bin/circle"), "#!/usr/bin/circle\n");
  await writeFile(join(root, "usr/bin/text"), "text");
  const audit = await auditLibraries(root, { program: "/bin/outer" });
  expect(audit).toMatchObject({
    program: "/usr/bin/program",
    scripts: ["/usr/bin/outer", "/usr/bin/script"],
    interpreter: loader,
    missing: [],
  });
  await failure(() => auditLibraries(root, { program: "/usr/bin/circle" }), "NO_SUCH_PROGRAM");
  await failure(() => auditLibraries(root, { program: "/usr/bin/none" }), "NO_SUCH_PROGRAM");
  await failure(() => auditLibraries(root, { program: "/usr/bin/text" }), "NOT_ELF");
});

for (const program of ["xterm", "openbox", "Xvfb", "python3"])
  testNeeding(
    [`program:${program}`, "program:ldd"],
    `this machine's own ${program} has the libraries that its loader lists`,
    async () => {
      const folder = (process.env.PATH ?? "").split(":").includes("/usr/bin") ? "/usr/bin" : "/bin";
      const path = await realpath(join(folder, program));
      const audit = await auditLibraries("/", { program: path });
      const { stdout } = await execa(audit.interpreter ?? "", ["--list", path], {
        env: { LD_LIBRARY_PATH: "" },
      });
      expect(audit.libraries.map((library) => library.path)).toEqual(parseLoaderList(stdout));
      expect(audit.libraries.length).toBeGreaterThan(2);
    },
  );

testNeeding(NEEDS, "another root's own loader is not mistaken for this machine's", async () => {
  const { root } = await rootWithLibc(await temporaryFolder());
  await linkObject(root, "/usr/bin/program", {}, false);
  await copyFile(await realpath("/bin/sh"), join(root, "usr/bin/sh"));
  const { libraries } = await auditLibraries(root, { program: "/usr/bin/sh" });
  expect(libraries.map(({ file }) => dirname(file))).toEqual(
    libraries.map(() => expect.stringMatching(/^\/usr\/lib/)),
  );
});

testNeeding(NEEDS, "a FIFO in the place of any file that is looked at holds nobody", async () => {
  const { root, libs } = await rootWithLibc(await temporaryFolder());
  await linkObject(root, "/usr/bin/program", { needs: ["liba.so"], runpath: "/opt/near" }, false);
  const mkfifo = (path: string) => execa("mkfifo", [join(root, path)]);
  await mkdir(join(root, "opt/near"));
  for (const path of ["opt/near/liba.so", "usr/bin/pipe", "etc/ld.so.conf", "etc/ld.so.cache"])
    await mkfifo(path);
  await failure(() => auditLibraries(root, { program: "/usr/bin/pipe" }), "NO_SUCH_PROGRAM");
  await failure(() => auditLibraries(root, { program: "/usr/bin/program" }), "BAD_CACHE");
  await rm(join(root, "etc/ld.so.cache"));
  const { missing, libraries } = await auditLibraries(root, { program: "/usr/bin/program" });
  expect(missing.map(({ name }) => name)).toEqual(["liba.so"]);
  expect(libraries[0]?.file).toBe(`${libs}/libc.so.6`);
});
