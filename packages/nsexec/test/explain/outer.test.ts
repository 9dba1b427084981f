import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { type ExplainSystem, explainStep, explainUserNamespaces } from "../../src/index.js";
import { makeStage } from "../support/session.js";
import { launchAmong } from "../support/surroundings.js";

/** A seccomp filter of two verdicts: mount(2) on x86-64 is EPERM, all else is allowed. */
const NO_MOUNT = `
my $code = join "", map { pack "SCCL", @$_ } [0x20, 0, 0, 0], [0x15, 0, 1, 165], [6, 0, 0, 0x50001], [6, 0, 0, 0x7fff0000];
my $program = pack "Sx6P", 4, $code;
syscall(157, 38, 1, 0, 0, 0) == 0 or die $!;
syscall(157, 22, 2, $program, 0, 0) == 0 or die $!;
exec @ARGV;`;

describe("what surrounds the launcher is named for real:", () => {
  testNeeding(["root"], "a seccomp filter of an outer container that denies mounts", async () => {
    await refusedAmong("compat", `exec perl -e '${NO_MOUNT}' "$@"`, {
      reason: "OUTER_SECCOMP",
      errno: -1,
      hint: expect.stringContaining("seccomp=unconfined"),
    });
  });

  testNeeding(["root"], "a /proc with parts covered, which a user namespace may not mount anew", async () => {
    await refusedAmong("hardened", 'mount -t tmpfs cover /proc/sys; "$@"', {
      step: "mount",
      path: "/proc",
      reason: "PROC_COVERED",
      hint: expect.stringContaining("/proc/sys"),
    });
  });

  testNeeding(["root"], "no CAP_SYS_ADMIN", async () => {
    await refusedAmong("compat", 'exec setpriv --bounding-set -sys_admin --inh-caps -all "$@"', {
      reason: "NO_SYS_ADMIN",
    });
  });

  testNeeding(["root"], "a sysctl that forbids user namespaces, by its exact key", async () => {
    // The limit is of the user namespace in which it is written: a new one, so the machine keeps its own.
    const lines = `exec unshare --user --map-root-user bash -ec 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"' bash "$@"`;
    await refusedAmong("hardened", lines, {
      reason: "USER_NAMESPACES_LIMIT",
      hint: expect.stringContaining("sysctl -w user.max_user_namespaces="),
    });
  });

  testNeeding(["root"], "a sysctl that forbids net namespaces, by its exact key", async () => {
    const lines = `exec unshare --user --map-root-user bash -ec 'echo 0 >/proc/sys/user/max_net_namespaces; exec "$@"' bash "$@"`;
    await refusedAmong("compat", lines, {
      step: "net-namespace",
      hint: expect.stringContaining("/proc/sys/user/max_net_namespaces"),
    });
  });

  testNeeding(["root"], "a chroot, from which nothing can be pivoted", async () => {
    const stage = makeStage("compat");
    try {
      mkdirSync(join(stage.folder, "jail"));
      const lines = `cd ${stage.folder}/jail
for name in /*; do
  if [ -L "$name" ]; then cp -a "$name" .$name; elif [ -d "$name" ]; then mkdir .$name; mount --rbind "$name" .$name; fi
done
exec chroot . "$@"`;
      expect(await launchAmong(lines, stage.options)).toMatchObject({
        code: "LAUNCH_FAILED",
        step: "private",
        path: "/",
        reason: "PIVOT_IN_CHROOT",
      });
    } finally {
      stage.remove();
    }
  });

  testNeeding(["root"], "nothing, where nothing is wrong", async () => {
    const stage = makeStage("hardened");
    try {
      expect(await launchAmong('"$@"', stage.options)).toEqual({ launched: true });
    } finally {
      stage.remove();
    }
  });
});

// These cannot be made to happen on every kernel, so the files of another machine stand in.
describe("keys of other kernels, told by a machine that is made up", () => {
  const machine = (files: Record<string, string>): ExplainSystem => ({
    readText: (path) => files[path],
    look: () => undefined,
  });

  test.each([
    ["/proc/sys/kernel/unprivileged_userns_clone", "0\n", "USER_NAMESPACES_UNPRIVILEGED"],
    ["/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "USER_NAMESPACES_APPARMOR"],
  ])("%s", (path, value, reason) => {
    const found = explainUserNamespaces("EPERM", machine({ [path]: value }));
    expect(found).toMatchObject({ reason, hint: expect.stringContaining(path) });
    expect(found.hint).toContain("sysctl -w kernel.");
  });

  test("32 levels of user namespaces are told apart from a limit that is reached", () => {
    expect(explainUserNamespaces("EUSERS", machine({})).reason).toBe("USER_NAMESPACES_NESTED");
    expect(explainUserNamespaces("ENOSPC", machine({})).reason).toBe("NAMESPACES_LIMIT");
    expect(explainUserNamespaces("EPERM", machine({})).reason).toBe("USER_NAMESPACES_REFUSED");
  });

  test("an AppArmor label is named, and goes before the filter that comes with it", () => {
    const system = machine({
      "/proc/self/status": "CapEff:\t000001ffffffffff\nSeccomp:\t2\n",
      "/proc/self/attr/current": "docker-default (enforce)\0\n",
    });
    expect(explainStep({ step: "mount", path: "/x", errno: "EACCES" }, { system })).toMatchObject({
      reason: "OUTER_SECURITY_MODULE",
      hint: expect.stringContaining("docker-default"),
    });
  });

  test("what is not known stays unnamed", () => {
    const system = machine({ "/proc/self/status": "CapEff:\t000001ffffffffff\nSeccomp:\t0\n" });
    expect(explainStep({ step: "mount", path: "/x", errno: "EPERM" }, { system })).toBeUndefined();
    expect(explainStep({ step: "folder", path: "/x", errno: "EINVAL" }, { system })).toBeUndefined();
  });
});

async function refusedAmong(profile: "compat" | "hardened", lines: string, expected: object): Promise<void> {
  const stage = makeStage(profile);
  try {
    expect(await launchAmong(lines, stage.options)).toMatchObject({ code: "LAUNCH_FAILED", ...expected });
  } finally {
    stage.remove();
  }
}
