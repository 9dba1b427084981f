import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
} from "node:fs";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  buildSessionPlan,
  launchSession,
  parseMountinfo,
  parseStatus,
  readMountinfo,
  readNamespaces,
  readStartTime,
  readStat,
  sameNamespace,
  sys,
} from "../../src/index.js";
import { ID_BASE, makeStage, PROFILES, shell, withSession } from "../support/session.js";

describe.each(PROFILES)("a %s session", (profile) => {
  testNeeding(["root"], "reports from inside what the host sees from outside", async () => {
    await withSession(profile, async ({ session }) => {
      const { report, initPid, startTime } = session;
      expect(report.pid).toBe(1);
      expect(report.namespaces).toEqual(await readNamespaces(initPid));
      expect(startTime).toBe(await readStartTime(initPid));
      expect(report.mountinfo).toBe(readFileSync(`/proc/${initPid}/mountinfo`, "utf8"));
      expect(report.cgroup).toBe(readFileSync(`/proc/${initPid}/cgroup`, "utf8"));
      expect(report.cgroupInside).toContain("0::/\n");
    });
  });

  testNeeding(["root"], "has namespaces of its own, all but the clock's", async () => {
    await withSession(profile, async ({ session }) => {
      const ours = await readNamespaces("self");
      const theirs = session.report.namespaces;
      for (const kind of ["mnt", "pid", "uts", "ipc", "net", "cgroup"] as const)
        expect(sameNamespace(ours[kind], theirs[kind]), kind).toBe(false);
      expect(sameNamespace(ours.user, theirs.user)).toBe(profile === "compat");
    });
  });

  testNeeding(
    ["root"],
    "holds no mount of the host: an overlay root, and its own kernel filesystems",
    async () => {
      await withSession(profile, async ({ session, stage }) => {
        const mounts = parseMountinfo(session.report.mountinfo);
        expect(new Set(mounts.map(({ fsType }) => fsType))).toEqual(
          new Set(["overlay", "proc", "sysfs", "tmpfs", "devpts", "mqueue"]),
        );
        const [root] = mounts;
        expect(root).toMatchObject({ mountPoint: "/", root: "/", fsType: "overlay" });
        expect(root?.superOptions).toEqual(expect.arrayContaining(["index=on", "nfs_export=on"]));
        expect(mounts.filter(({ shared, master }) => shared !== undefined || master !== undefined)).toEqual(
          [],
        );
        const host = await readMountinfo("self");
        expect(host.filter(({ mountPoint }) => mountPoint.startsWith(stage.folder))).toEqual([]);
      });
    },
  );

  testNeeding(
    ["root"],
    "has a fresh read-only /sys without configfs, and /proc parts that cannot be written",
    async () => {
      await withSession(profile, async ({ init, session }) => {
        const sys = parseMountinfo(session.report.mountinfo).find(({ mountPoint }) => mountPoint === "/sys");
        expect(sys).toMatchObject({ fsType: "sysfs", root: "/" });
        expect(sys?.options).toContain("ro");
        const { stdout, stderr } = await shell(
          init,
          "ls /sys/kernel; echo x >/proc/sys/kernel/core_pattern; touch /sys/x",
        );
        expect(stdout).toBe("");
        expect(stderr).toMatch(/core_pattern: Read-only file system/);
        expect(stderr).toMatch(/\/sys\/x.*Read-only file system/);
      });
    },
  );

  testNeeding(
    ["root"],
    "is confined: capabilities, filter and no new privileges, for PID 1 and for what it starts",
    async () => {
      await withSession(profile, async ({ init, session }) => {
        const kept = 0x8004_04ebn;
        const status = parseStatus(session.report.status);
        expect(status).toMatchObject({ capEff: kept, capBnd: kept, noNewPrivs: true, seccomp: 2 });
        const { stdout } = await shell(init, "cat /proc/self/status");
        expect(parseStatus(stdout)).toMatchObject({
          capEff: kept,
          capBnd: kept,
          noNewPrivs: true,
          seccomp: 2,
        });
      });
    },
  );

  testNeeding(["root"], "has descriptors of its own root alone", async () => {
    await withSession(profile, async ({ session, init }) => {
      await init.ping();
      await init.close();
      const folder = `/proc/${session.initPid}/fd`;
      const links = readdirSync(folder).map((fd) => readlinkSync(`${folder}/${fd}`));
      expect(links.filter((link) => link === "/dev/null")).toHaveLength(3);
      expect(links.filter((link) => link.startsWith("anon_inode:"))).toEqual(["anon_inode:[signalfd]"]);
      // The listener, and the connection that we have just closed where init has not seen it yet.
      expect(links.filter((link) => link.startsWith("socket:")).length).toBeLessThanOrEqual(2);
      expect(links.filter((link) => !/^(\/dev\/null|anon_inode:.*|socket:.*)$/.test(link))).toEqual([]);
    });
  });

  testNeeding(["root"], "has its host name, lo, devices, and folders for a desktop", async () => {
    await withSession(profile, async ({ init }) => {
      const { stdout } = await shell(
        init,
        "cat /proc/sys/kernel/hostname /etc/hostname /proc/net/dev; stat -c '%a %u %n' /run/user/1000 /tmp /dev/shm; ls /dev; echo x >/dev/null",
      );
      expect(stdout).toMatch(/^stage\nstage\n/);
      expect(stdout).toMatch(/^ *lo:/m);
      expect(stdout).toContain("700 1000 /run/user/1000\n1777 0 /tmp\n1777 0 /dev/shm\n");
      for (const name of ["full", "null", "ptmx", "random", "tty", "urandom", "zero"])
        expect(stdout).toMatch(new RegExp(`^${name}$`, "m"));
      expect(stdout).not.toMatch(/fuse|sda|vda|kmsg|mem$/m);
    });
  });

  testNeeding(["root"], "can neither mount, nor make a device, nor enter a namespace", async () => {
    await withSession(profile, async ({ init }) => {
      const { code, stderr } = await shell(init, "mount -t tmpfs x /home");
      expect(code).not.toBe(0);
      expect(stderr).toMatch(/permission denied|not permitted|must be superuser/i);
    });
  });

  testNeeding(["root"], "that is refused leaves no process", async () => {
    const stage = makeStage(profile);
    try {
      const session = await launchSession(buildSessionPlan(stage.options).plan);
      await session.abort();
      expect(await stateOf(session.initPid)).toBe("gone");
      await expect(session.go()).rejects.toMatchObject({ code: "SESSION_SETTLED" });
    } finally {
      stage.remove();
    }
  });

  testNeeding(["root"], "outlives its caller: its PID 1 is no child of ours", async () => {
    await withSession(profile, async ({ session }) => {
      expect((await readStat(session.initPid)).ppid).not.toBe(process.pid);
    });
  });

  testNeeding(["root"], "that waits for go does nothing: its socket is not there", async () => {
    const stage = makeStage(profile);
    try {
      const session = await launchSession(buildSessionPlan(stage.options).plan);
      expect(readdirSync(`/proc/${session.initPid}/root/run`)).not.toContain("drums");
      await session.abort();
    } finally {
      stage.remove();
    }
  });
});

testNeeding(
  ["root"],
  "a hardened session's root is nobody on the host, and its files belong to its range",
  async () => {
    await withSession("hardened", async ({ init, session, root }) => {
      expect(session.report.uidMap.trim().split(/\s+/)).toEqual(["0", String(ID_BASE), "65536"]);
      const { stdout } = await shell(init, "touch /home/new; stat -c '%u' /home/new /bin/sh /");
      expect(stdout).toBe("0\n0\n0\n");
      expect(await root.stat("/home/new")).toMatchObject({ uid: ID_BASE, gid: ID_BASE });
    });
  },
);

testNeeding(["root"], "limits of the plan hold inside", async () => {
  const limits = { nofile: { soft: 100, hard: 200 }, core: { soft: 0, hard: 0 } };
  await withSession(
    "hardened",
    async ({ init }) => {
      const { stdout } = await shell(init, "cat /proc/self/limits");
      expect(stdout).toMatch(/Max open files +100 +200/);
      expect(stdout).toMatch(/Max core file size +0 +0/);
    },
    { limits },
  );
});

testNeeding(["root", "cgroup2"], "a session is born in the cgroup that it is given", async () => {
  const base = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find((path) =>
    existsSync(`${path}/cgroup.procs`),
  );
  const group = mkdtempSync(`${base}/drums-test-`);
  const stage = makeStage("hardened");
  const cgroupFd = openSync(group, "r");
  try {
    const session = await launchSession(buildSessionPlan(stage.options).plan, { cgroupFd });
    expect(readFileSync(`${group}/cgroup.procs`, "utf8")).toBe(`${session.initPid}\n`);
    expect(session.report.cgroup).toContain(`0::${group.slice(base?.length)}\n`);
    expect(session.report.cgroupInside).toContain("0::/\n");
    await session.abort();
  } finally {
    closeSync(cgroupFd);
    await emptied(group);
    rmdirSync(group);
    stage.remove();
  }
});

/** "gone" for a zombie too: it runs nothing and holds nothing, and waits for the host's reaper. */
async function stateOf(pid: number): Promise<string> {
  const state = await readStat(pid).then(
    (stat) => stat.state,
    () => "gone",
  );
  return state === "Z" ? "gone" : state;
}

/** A killed process leaves its group when it has been reaped, which is the host's affair. */
async function emptied(group: string): Promise<void> {
  for (const pid of readFileSync(`${group}/cgroup.procs`, "utf8").split("\n").filter(Boolean)) {
    const pidfd = sys.pidfdOpen(Number(pid));
    await sys.pidfdWait(pidfd);
  }
}
