import { expect, test } from "vitest";
import { buildSessionPlan, describePlan, type LaunchPlan, SESSION_RULES } from "../../src/index.js";

const OPTIONS = {
  lowers: [{ path: "/srv/root", idmap: true }],
  upper: "/srv/s1/upper",
  work: "/srv/s1/work",
  scratch: "/srv/s1/scratch",
  hostname: "s1",
} as const;

const SMALL: LaunchPlan = {
  namespaces: ["mnt", "pid", "uts", "time"],
  timeOffsets: { boottime: 60 },
  hostMounts: [{ kind: "propagation", target: "/", mode: "slave", recursive: true }],
  root: "/srv/root",
  insideMounts: [
    { kind: "mount", fsType: "tmpfs", source: "tmpfs", target: "/tmp", options: ["nosuid"], data: "size=1m" },
    { kind: "bind", source: "/srv/data", target: "/data", recursive: true, options: ["ro"] },
    { kind: "bind", source: "/tmp", from: "root", target: "/var/tmp" },
    { kind: "remount", target: "/", options: ["ro"] },
    { kind: "readOnly", target: "/proc/sys" },
    { kind: "mask", target: "/proc/kcore" },
    { kind: "folder", path: "/work", mode: 0o1777 },
    { kind: "node", path: "/dev/null", major: 1, minor: 3 },
    { kind: "link", path: "/dev/fd", target: "/proc/self/fd" },
    { kind: "file", path: "/etc/hostname", content: "box\n", uid: 5 },
  ],
  hostname: "box",
  limits: { nofile: { soft: 10, hard: 20 }, core: { soft: 0, hard: 0 } },
  capabilities: [],
  seccomp: Buffer.from("0600000000000500", "hex"),
  program: { file: "/bin/sh", argv: ["sh", "-c", "exit 3"], uid: 1000, env: { A: "b" } },
};

test("a plan reads in the order in which it is carried out", () => {
  expect(describePlan(SMALL)).toBe(`on the host, in a private mount namespace
  propagation  / and below slave

new namespaces, with /srv/root as the root
  kinds   mnt pid uts time
  clocks  monotonic 0 s, boottime 60 s ahead

inside the root, before the pivot
  tmpfs      /tmp (nosuid,size=1m)
  rbind      /data shows the host's /srv/data (ro)
  bind       /var/tmp shows /tmp
  remount    / (ro)
  read-only  /proc/sys
  hidden     /proc/kcore
  folder     /work 1777 0:0
  device     /dev/null 1:3 0666 0:0
  link       /dev/fd to /proc/self/fd
  file       /etc/hostname 0644 5:0 "box\\n"

then
  host name    box
  network      lo alone, down
  root         pivot_root onto the root; the host's mounts are detached
  descriptors  all closed

given up
  limit nofile    10, at most 20
  limit core      0
  capabilities    all but none
  new privileges  not: setuid files work
  system calls    by a filter of 1 instructions, sha256 b96f9a487126bb9603514d5f60d694102badb3417e44723622e64d343db4c53c

PID 1
  program      /bin/sh ["sh","-c","exit 3"]
  ids          uid 1000, gid 1000, groups none
  folder       /
  environment  A=b
`);
});

test("every step, every rule of the filter and the id map of a session's plan are in its text", () => {
  const { plan } = buildSessionPlan({ ...OPTIONS, profile: "hardened" });
  const text = describePlan(plan);
  for (const step of [...plan.hostMounts, ...plan.insideMounts])
    expect(text).toContain("target" in step && step.kind !== "link" ? step.target : step.path);
  for (const { calls } of SESSION_RULES) for (const call of calls) expect(text).toContain(call);
  expect(text).toContain("0–65535 inside are 1073741824–1073807359 of the host");
  expect(text).toContain("init         /usr/lib/drums/drums-init");
});
