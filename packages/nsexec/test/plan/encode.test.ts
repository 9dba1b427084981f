import { expect, test } from "vitest";
import { encodeEnterPlan, encodeLaunchPlan, encodeMountsPlan } from "../../src/plan/encode.js";
import type { LaunchPlan } from "../../src/plan/index.js";

const PLAN: LaunchPlan = {
  namespaces: ["mnt", "pid", "uts", "net", "user"],
  idMap: { base: 100_000, size: 65_536 },
  hostMounts: [{ kind: "layer", source: "/srv/layer", target: "/mnt/layer" }],
  root: "/mnt/root",
  insideMounts: [
    {
      kind: "mount",
      fsType: "tmpfs",
      source: "tmpfs",
      target: "/run",
      options: ["nosuid", "nodev"],
      data: "size=1m",
    },
    { kind: "bind", source: "/srv/dev", target: "/dev", options: ["ro"] },
    { kind: "node", path: "/dev/null", major: 1, minor: 3 },
    { kind: "file", path: "/etc/hostname", content: "stage\n", mode: 0o600 },
  ],
  hostname: "stage",
  lo: true,
  limits: { nofile: { soft: 10, hard: 20 } },
  capabilities: ["CHOWN", "CAP_SETFCAP"],
  seccomp: Buffer.from("0600000000000500", "hex"),
  noNewPrivs: true,
  env: { PATH: "/bin" },
};

const records = (packet: Buffer) => packet.toString().split("\0").join(" ");

test("a session's plan becomes records, the host's steps before those inside", () => {
  expect(records(encodeLaunchPlan(PLAN, { cgroupFd: 3 }))).toBe(
    [
      "drums-plan-1",
      "namespaces 1 1946288128",
      "root 1 /mnt/root",
      "hostname 1 stage",
      "program 1 /usr/lib/drums/drums-init",
      "env 1 PATH=/bin",
      "lo 0",
      "id-map 2 100000 65536",
      "cgroup-fd 1 3",
      "limit 3 7 10 20",
      "capabilities 1 2147483649",
      "seccomp 1 0600000000000500",
      "no-new-privs 0",
      "host 0",
      "layer 2 /mnt/layer /srv/layer",
      "inside 0",
      "mount 5 /run tmpfs tmpfs 6 size=1m",
      "bind 5 /dev /srv/dev 0 0 1",
      "node 6 /dev/null 438 0 0 1 3",
      "file 5 /etc/hostname 384 0 0 stage\n ",
    ].join(" "),
  );
});

test("a program with mounts carries its ids only where they are given", () => {
  const program = { file: "/bin/true", argv: ["true"], env: {} };
  expect(records(encodeMountsPlan(program, { hostMounts: [] }))).toBe(
    "drums-plan-1 program 1 /bin/true argv 1 true env 0 host 0 ",
  );
  const withIds = { ...program, ids: { uid: 1, gid: 2, groups: [3] } };
  expect(records(encodeMountsPlan(withIds, { hostMounts: [] }))).toContain("uid 1 1 gid 1 2 groups 1 3");
});

test("what is entered carries the session's confinement", () => {
  const packet = encodeEnterPlan(
    { file: "/bin/true", argv: ["true"], env: {}, ids: { uid: 0, gid: 0 } },
    { namespaces: ["mnt"], sessionFd: 4, confinement: { capabilities: ["KILL"], noNewPrivs: true } },
  );
  expect(records(packet)).toContain("session-fd 1 4 capabilities 1 32 no-new-privs 0");
});

test("an unknown capability is an error with its name", () => {
  expect(() => encodeLaunchPlan({ ...PLAN, capabilities: ["SYS_EVERYTHING"] })).toThrow(/SYS_EVERYTHING/);
});

test("a plan that one packet cannot hold is refused before anything is started", () => {
  const content = "x".repeat(200_000);
  const plan = { ...PLAN, insideMounts: [{ kind: "file" as const, path: "/big", content }] };
  expect(() => encodeLaunchPlan(plan)).toThrow(expect.objectContaining({ code: "PLAN_TOO_LARGE" }));
});
