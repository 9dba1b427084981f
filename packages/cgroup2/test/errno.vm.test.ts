import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refused } from "../src/errno.js";
import {
  CgroupError,
  controllerStatus,
  createGroup,
  enableControllers,
  explainErrno,
  type Group,
  setLimits,
} from "../src/index.js";
import { born, withLimited } from "./limited.js";

const ERRNOS = { "Permission denied": "EACCES", "Operation not permitted": "EPERM", "File exists": "EEXIST" };

/** A group whose effects are those of another user, or of a process in other namespaces: each by a program of its own. */
function seenBy(group: Group, wrapper: readonly string[]): Group {
  const run = (file: string, argv: readonly string[], input = "") => {
    const [program = "", ...args] = [...wrapper, ...argv];
    const { status, stderr } = spawnSync(program, args, {
      input,
      encoding: "utf8",
      env: { ...process.env, LC_ALL: "C" },
    });
    if (status === 0) return;
    const code = Object.entries(ERRNOS).find(([text]) => stderr.includes(text))?.[1] ?? stderr;
    throw refused(Object.assign(new Error(stderr), { code }), argv.join(" "), file, argv[0] ?? "");
  };
  const isWritable = (file: string) => {
    const [program = "", ...args] = [...wrapper, "test", "-w", file];
    return spawnSync(program, args).status === 0;
  };
  const files = {
    ...group.hierarchy.files,
    write: (file: string, value: string) => run(file, ["tee", file], value),
    mkdir: (folder: string) => run(folder, ["mkdir", folder]),
    isWritable,
  };
  return { ...group, hierarchy: { ...group.hierarchy, files } };
}

/** The refusal of a call, which must be explained by the errno's name, its cause there, and what to do. */
async function refusalOf(call: () => unknown): Promise<CgroupError> {
  const error = await Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (reason: unknown) => reason,
    );
  if (!(error instanceof CgroupError)) throw new Error(`not refused by cgroupfs: ${String(error)}`);
  const { cause, remedy } = explainErrno(error.errno ?? "", { file: error.path ?? "" });
  expect(error.message).toContain(`${error.errno}: ${cause}`);
  expect(error.hint).toBe(remedy);
  return error;
}

const child = (group: Group, name: string) =>
  createGroup({ hierarchy: group.hierarchy, path: [...group.parts, name] });
const control = (group: Group, name: string) => join(group.path, name);

test("EBUSY: a group that holds processes enables no domain controller, and one that enables it takes no process", async () => {
  await withLimited({ memoryMaxBytes: "max" }, async (group) => {
    const inner = born(group, "exec sleep 1000");
    const leaf = await child(group, "leaf");
    const question = { hierarchy: group.hierarchy, path: leaf.parts, controller: "memory" };
    const file = control(group, "cgroup.subtree_control");
    // Told before it is tried, and then met.
    expect(controllerStatus(question)).toMatchObject({
      available: true,
      delegated: true,
      stop: { file, errno: "EBUSY" },
    });
    const busy = await refusalOf(() => enableControllers(leaf, ["memory"]));
    expect(busy).toMatchObject({
      code: "CONTROLLER_REFUSED",
      errno: "EBUSY",
      path: file,
      controller: "memory",
    });
    expect(busy.hint).toContain("into a child group first");
    leaf.add(inner.pid);
    await enableControllers(leaf, ["memory"]);
    expect(controllerStatus(question)).toEqual({ available: true, delegated: true, enabled: true });
    expect(await refusalOf(() => group.add(inner.pid))).toMatchObject({
      errno: "EBUSY",
      hint: expect.stringContaining("leaf"),
    });
    expect(() => born(group, "true")).toThrowError(expect.objectContaining({ code: "EBUSY" }));
    expect(leaf.procs()).toEqual([inner.pid]);
  });
});

test("EOPNOTSUPP: no domain controller in a group with threaded children, no threaded group beside one, no list of processes in one", async () => {
  await withLimited({ memoryMaxBytes: "max", pidsMax: "max" }, async (group) => {
    const threaded = await child(group, "threaded");
    const { files } = group.hierarchy;
    files.write(control(threaded, "cgroup.type"), "threaded");
    expect(files.read(control(group, "cgroup.type")).trim()).toBe("domain threaded");
    const question = { hierarchy: group.hierarchy, path: threaded.parts };
    const stop = { errno: "EOPNOTSUPP", file: control(group, "cgroup.subtree_control") };
    expect(controllerStatus({ ...question, controller: "memory" })).toMatchObject({ stop });
    expect(controllerStatus({ ...question, controller: "pids" }).stop).toBeUndefined();
    const refusal = await refusalOf(() => enableControllers(threaded, ["memory"]));
    expect(refusal).toMatchObject({
      errno: "EOPNOTSUPP",
      path: stop.file,
      hint: expect.stringContaining("threaded"),
    });
    await enableControllers(threaded, ["pids"]);
    expect(await refusalOf(() => threaded.procs())).toMatchObject({ errno: "EOPNOTSUPP" });
    // Its sibling is a domain no more: neither a move nor a clone brings a process there.
    const invalid = await child(group, "invalid");
    expect(await refusalOf(() => invalid.add(process.pid))).toMatchObject({ errno: "EOPNOTSUPP" });
    expect(() => born(invalid, "true")).toThrowError(expect.objectContaining({ code: "EOPNOTSUPP" }));
    await withLimited({}, async (holder) => {
      born(holder, "exec sleep 1000");
      const late = () => files.write(control(holder, "cgroup.type"), "threaded");
      expect(await refusalOf(late)).toMatchObject({
        errno: "EOPNOTSUPP",
        hint: expect.stringContaining("an empty group"),
      });
    });
  });
});

test("ENOENT: a controller that is not enabled above, and a group that is gone", async () => {
  await withLimited({}, async (group) => {
    const { files } = group.hierarchy;
    const write = () => files.write(control(group, "cgroup.subtree_control"), "+hugetlb");
    expect(await refusalOf(write)).toMatchObject({
      errno: "ENOENT",
      hint: expect.stringContaining("from the root down"),
    });
    const report = await setLimits(group, { hugetlbMaxBytes: { "2MB": 0 } });
    const reason = expect.stringMatching(
      /^the hugetlb controller is not enabled in .*cgroup.subtree_control$/,
    );
    expect(report).toMatchObject({ enforced: false, reason });
    const gone = await child(group, "gone");
    await gone.remove();
    expect(await refusalOf(() => gone.procs())).toMatchObject({ errno: "ENOENT" });
  });
});

test("ENODEV: a disk that is not there, and a control file that was open when its group was removed", async () => {
  await withLimited({}, async (group) => {
    const leaf = await child(group, "leaf");
    await enableControllers(leaf, ["io"]);
    const limit = () => setLimits(leaf, { ioMax: { "240:9": { readBytesPerSecond: 1 } } });
    expect(await refusalOf(limit)).toMatchObject({ errno: "ENODEV", hint: expect.stringContaining("lsblk") });
    const events = openSync(control(leaf, "cgroup.events"), "r");
    await leaf.remove();
    expect(() => readSync(events, Buffer.alloc(100))).toThrowError(
      expect.objectContaining({ code: "ENODEV" }),
    );
    closeSync(events);
    // To a wait and to statistics that is a group with nothing in it, no failure.
    await leaf.waitEmpty();
    expect(leaf.stats()).toEqual({ pressure: {} });
  });
});

test("EINVAL: a quota, a processor, a resource or a controller that the kernel does not know", async () => {
  const controllers = ["cpu", "cpuset", "misc"];
  await withLimited({}, async (group) => {
    await enableControllers(group, controllers);
    const meet = async (limits: Parameters<typeof setLimits>[1]) => refusalOf(() => setLimits(group, limits));
    expect(await meet({ cpuMax: { quotaUsec: 500 } })).toMatchObject({
      errno: "EINVAL",
      hint: expect.stringContaining("1000"),
    });
    expect(await meet({ cpusetMems: [9] })).toMatchObject({
      errno: "EINVAL",
      hint: expect.stringContaining("has_memory"),
    });
    expect(await meet({ cpusetCpus: [8000] })).toMatchObject({
      errno: "ERANGE",
      hint: expect.stringContaining("possible"),
    });
    expect(await meet({ miscMax: { sev: 1 } })).toMatchObject({
      errno: "EINVAL",
      hint: expect.stringContaining("misc.capacity"),
    });
    const unknown = () => group.hierarchy.files.write(control(group, "cgroup.subtree_control"), "+turbo");
    expect(await refusalOf(unknown)).toMatchObject({ errno: "EINVAL" });
  });
});

test("EACCES: a user without rights is stopped at the first group, and told to have a subtree delegated", async () => {
  await withLimited({ pidsMax: 9 }, async (group) => {
    const seen = seenBy(group, ["setpriv", "--reuid=65534", "--clear-groups"]);
    const refusal = await refusalOf(() => setLimits(seen, { pidsMax: 10 }));
    expect(refusal).toMatchObject({ errno: "EACCES", hint: expect.stringContaining("Delegate=yes") });
    const leaf = { hierarchy: seen.hierarchy, path: [...seen.parts, "leaf"] };
    expect(await refusalOf(() => createGroup(leaf))).toMatchObject({ errno: "EACCES", syscall: "mkdir" });
    expect(controllerStatus({ ...leaf, controller: "pids" })).toMatchObject({
      available: true,
      delegated: false,
      stop: { errno: "EACCES", file: control(group, "cgroup.subtree_control") },
    });
    const enabled = () => enableControllers({ ...seen, parts: leaf.path }, ["pids"]);
    expect(await refusalOf(enabled)).toMatchObject({
      errno: "EACCES",
      path: control(group, "cgroup.subtree_control"),
    });
  });
});

test("EPERM: at the border of its cgroup namespace a process does not change the limits that it was given", async () => {
  execFileSync("mount", ["-o", "remount,nsdelegate", "/sys/fs/cgroup"]);
  await withLimited({ pidsMax: 20 }, async (group) => {
    // A process of the group in a cgroup namespace with its root there, as a session's.
    const enter = `echo $$ >${control(group, "cgroup.procs")}; exec unshare --cgroup "$0" "$@"`;
    const seen = seenBy(group, ["sh", "-c", enter]);
    const refusal = await refusalOf(() => setLimits(seen, { pidsMax: 10_000 }));
    expect(refusal).toMatchObject({
      errno: "EPERM",
      hint: expect.stringContaining("below the delegated group"),
    });
    expect(group.hierarchy.files.read(control(group, "pids.max")).trim()).toBe("20");
  });
});
