import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { NsexecError, SyscallError } from "../src/errors.js";
import { type PreflightItem, preflight } from "../src/preflight.js";
import type { PreflightSystem } from "../src/preflight-system.js";

const FILES: Record<string, string> = {
  "/proc/filesystems": "nodev\tproc\nnodev\toverlay\n\text4\n",
  "/proc/sys/kernel/seccomp/actions_avail": "kill_process kill_thread trap errno trace log allow\n",
};

/** A machine that can do everything, but for what a test takes from it. A fake, so that any machine can be played. */
function machine(
  lacking: Partial<PreflightSystem> & { files?: Record<string, string> } = {},
): PreflightSystem {
  const { files = FILES, ...rest } = lacking;
  return {
    release: () => "6.1.0-13-amd64",
    uid: () => 0,
    capabilities: () => (1n << 41n) - 1n,
    readText: (path) => files[path],
    exists: () => true,
    findProgram: (name) => `/usr/bin/${name}`,
    loadAddon: () => {},
    initBinary: () => "/somewhere/drums-init",
    tryOpenat2: () => {},
    tryPidfd: () => {},
    tryClone: async () => {},
    ...rest,
  };
}

const refused = (syscall: string, code: string) =>
  new SyscallError(code, `${code}: refused, ${syscall}`, { syscall });

async function findings(system: PreflightSystem): Promise<PreflightItem[]> {
  const items = await preflight({ system });
  for (const item of items) if (item.status !== "ok") expect(item.remedy, item.name).toBeTruthy();
  return items.filter(({ status }) => status !== "ok");
}

test("a machine that can do all of it has no finding", async () => {
  expect(await findings(machine())).toEqual([]);
});

test.each<[string, Parameters<typeof machine>[0], Partial<PreflightItem>]>([
  ["a user who is not root", { uid: () => 1000 }, { name: "root", status: "blocker" }],
  ["root without its power", { capabilities: () => 1n }, { name: "root", status: "blocker" }],
  ["no slirp4netns", { findProgram: () => undefined }, { name: "slirp4netns", status: "gap" }],
  ["no tun device", { exists: () => false }, { name: "slirp4netns", status: "gap" }],
  ["an old kernel", { release: () => "5.10.0-28-amd64" }, { name: "kernel", status: "blocker" }],
  ["a kernel between", { release: () => "5.15.0" }, { name: "kernel", status: "gap" }],
  [
    "no openat2",
    {
      tryOpenat2: () => {
        throw refused("openat2", "ENOSYS");
      },
    },
    { name: "openat2", status: "blocker" },
  ],
  [
    "an init that was not built",
    {
      initBinary: () => {
        throw new NsexecError("INIT_MISSING", "not built", { hint: "Build it." });
      },
    },
    { name: "drums-init", status: "blocker", remedy: "Build it." },
  ],
  [
    "no overlay",
    { files: { ...FILES, "/proc/filesystems": "\text4\n" } },
    { name: "overlay", status: "blocker" },
  ],
  ["no seccomp", { files: { "/proc/filesystems": "nodev\toverlay\n" } }, { name: "seccomp", status: "gap" }],
])("%s is one finding with a remedy", async (_, lacking, expected) => {
  expect(await findings(machine(lacking))).toEqual([expect.objectContaining(expected)]);
});

test("an overlay module that is not loaded yet is enough", async () => {
  const files = {
    ...FILES,
    "/proc/filesystems": "\text4\n",
    "/lib/modules/6.1.0-13-amd64/modules.dep": "kernel/fs/overlayfs/overlay.ko: \n",
  };
  expect(await findings(machine({ files }))).toEqual([]);
});

test.each([
  ["/proc/sys/user/max_user_namespaces", "0\n", /user\.max_user_namespaces/],
  ["/proc/sys/kernel/unprivileged_userns_clone", "0\n", /unprivileged_userns_clone=1/],
  [
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "1\n",
    /apparmor_restrict_unprivileged_userns=0/,
  ],
])("refused user namespaces are a gap that names %s", async (path, value, remedy) => {
  const tryClone: PreflightSystem["tryClone"] = async (_, kinds) => {
    if (kinds.includes("user")) throw refused("clone3", "EPERM");
  };
  const [item, ...others] = await findings(machine({ tryClone, files: { ...FILES, [path]: value } }));
  expect(item).toMatchObject({
    name: "user namespace",
    status: "gap",
    remedy: expect.stringContaining(path),
  });
  expect(item?.remedy).toMatch(remedy);
  expect(others).toEqual([]);
});

test("a clone whose program is missing still shows that clone3 works", async () => {
  const tryClone = async () => {
    throw refused("execve", "ENOENT");
  };
  expect(await findings(machine({ tryClone }))).toEqual([]);
});

test("without the addon its calls are not asked about", async () => {
  const loadAddon = () => {
    throw new NsexecError("ADDON_MISSING", "does not load", { hint: "Build it." });
  };
  const items = await preflight({ system: machine({ loadAddon }) });
  expect(items.map(({ name }) => name)).toEqual([
    "root",
    "kernel",
    "native addon",
    "drums-init",
    "overlay",
    "seccomp",
    "slirp4netns",
  ]);
});

testNeeding(["root"], "this machine has no blocker", async () => {
  expect((await preflight()).filter(({ status }) => status === "blocker")).toEqual([]);
});
