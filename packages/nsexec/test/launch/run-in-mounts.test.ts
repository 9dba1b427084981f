import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { type MountStep, type RunInMountsOptions, readMountinfo, runInMounts } from "../../src/index.js";

const PATH = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "drums-mounts-"));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a shell line with its output in a file. */
async function output(folder: string, line: string, options: Partial<RunInMountsOptions>): Promise<string> {
  const file = join(folder, "output");
  const target = openSync(file, "w");
  try {
    const child = await runInMounts({
      hostMounts: [],
      file: "/bin/sh",
      argv: ["sh", "-c", line],
      env: PATH,
      fds: [1, 2].map((number) => ({ source: target, target: number })),
      ...options,
    });
    expect(await child.exited).toEqual({ code: 0 });
  } finally {
    closeSync(target);
  }
  return readFileSync(file, "utf8");
}

testNeeding(["root"], "a program sees the mounts, and the host does not", async () => {
  await withFolder(async (folder) => {
    for (const name of ["lower", "upper", "work", "merged"]) mkdirSync(join(folder, name));
    writeFileSync(join(folder, "lower/file"), "from below\n");
    const data = `lowerdir=${folder}/lower,upperdir=${folder}/upper,workdir=${folder}/work`;
    const hostMounts: MountStep[] = [
      { kind: "mount", fsType: "overlay", source: "overlay", target: `${folder}/merged`, data },
      { kind: "mount", fsType: "tmpfs", source: "private", target: "/run", data: "size=1m" },
      { kind: "file", path: "/run/made", content: "made\n" },
    ];
    const seen = await output(folder, `cat ${folder}/merged/file /run/made; ls /run`, { hostMounts });
    expect(seen).toBe("from below\nmade\nmade\n");
    const points = (await readMountinfo("self")).map(({ mountPoint, source }) => `${mountPoint} ${source}`);
    expect(points).not.toContain("/run private");
    expect(points.filter((point) => point.startsWith(folder))).toEqual([]);
  });
});

testNeeding(
  ["root"],
  "the program has exactly the descriptors, ids and folder that it is given",
  async () => {
    await withFolder(async (folder) => {
      const seen = await output(folder, "ls /proc/self/fd; id -u; id -g; pwd", { uid: 1234, cwd: "/usr" });
      // 0 is opened by ls itself, for the folder that it lists.
      expect(seen).toBe("0\n1\n2\n1234\n1234\n/usr\n");
    });
  },
);

testNeeding(["root"], "a step that fails is named with its path, and nothing is run", async () => {
  await withFolder(async (folder) => {
    const run = runInMounts({
      hostMounts: [{ kind: "mount", fsType: "tmpfs", source: "x", target: `${folder}/absent` }],
      file: "/bin/sh",
      argv: ["sh", "-c", `touch ${folder}/ran`],
    });
    await expect(run).rejects.toMatchObject({
      code: "RUN_FAILED",
      step: "mount",
      path: `${folder}/absent`,
      errno: -2,
    });
    expect(() => readFileSync(`${folder}/ran`)).toThrow(/ENOENT/);
  });
});

testNeeding(["root"], "a program that is missing is named", async () => {
  const run = runInMounts({ hostMounts: [], file: "/no/such", argv: ["such"] });
  await expect(run).rejects.toMatchObject({ code: "RUN_FAILED", step: "exec", path: "/no/such" });
});

testNeeding(
  ["root", "file:/sys/kernel/mm/ksm/run"],
  "memory of a program and its children may be merged where asked for, and not else",
  async () => {
    await withFolder(async (folder) => {
      // PR_GET_MEMORY_MERGE, asked by a child of the program.
      const line = `(perl -e 'print syscall(157, 68, 0, 0, 0, 0)')`;
      expect(await output(folder, line, { mergeMemory: true })).toBe("1");
      expect(await output(folder, line, {})).toBe("0");
    });
  },
);
