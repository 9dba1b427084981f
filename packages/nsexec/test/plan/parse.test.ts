import { describe, expect, test } from "vitest";
import { type LaunchPlan, parseLaunchPlan, parseMountSteps } from "../../src/plan/index.js";

const PLAN: LaunchPlan = {
  namespaces: ["mnt", "pid", "uts"],
  hostMounts: [],
  root: "/srv/root",
  insideMounts: [{ kind: "folder", path: "/proc" }],
  hostname: "stage",
};

test("a plan that is whole comes back as it is", () => {
  expect(parseLaunchPlan(PLAN)).toEqual(PLAN);
});

describe("a plan is refused, and the field named, for", () => {
  const cases: Array<[string, unknown, RegExp]> = [
    ["a root that is no absolute path", { ...PLAN, root: "root" }, /root/],
    ["a path with ..", { ...PLAN, root: "/srv/../etc" }, /root/],
    ["a NUL byte", { ...PLAN, insideMounts: [{ kind: "folder", path: "/a\0b" }] }, /insideMounts/],
    ["an unknown step", { ...PLAN, hostMounts: [{ kind: "format", target: "/" }] }, /hostMounts/],
    ["a field that no step has", { ...PLAN, hostMounts: [{ kind: "mask", target: "/x", mod: 1 }] }, /mod/],
    [
      "an unknown mount option",
      { ...PLAN, hostMounts: [{ kind: "remount", target: "/", options: ["rx"] }] },
      /options/,
    ],
    ["an unknown field", { ...PLAN, hostnam: "x" }, /hostnam/],
    ["an unknown namespace", { ...PLAN, namespaces: ["mount"] }, /namespaces/],
    ["a host name with a space", { ...PLAN, hostname: "a b" }, /hostname/],
    ["a user namespace without a map", { ...PLAN, namespaces: [...PLAN.namespaces, "user"] }, /idMap/],
    ["a map without a user namespace", { ...PLAN, idMap: { base: 100_000, size: 65_536 } }, /idMap/],
    ["a map onto the host's root", { ...PLAN, idMap: { base: 0, size: 65_536 } }, /idMap/],
    ["an unknown limit", { ...PLAN, limits: { files: { soft: 1, hard: 1 } } }, /limits/],
    ["more mount data than mount(2) takes", { ...PLAN, hostMounts: [tmpfs("x".repeat(4096))] }, /data/],
    ["clocks without a time namespace", { ...PLAN, timeOffsets: { monotonic: 1 } }, /timeOffsets/],
    ["a pid_max without a /proc to set it by", { ...PLAN, pidMax: 400 }, /pidMax/],
    ["a program beside an init", { ...PLAN, init: "/init", program: { file: "/x", argv: ["x"] } }, /program/],
    ["a program without arguments", { ...PLAN, program: { file: "/x", argv: [] } }, /argv/],
    [
      "an unknown propagation",
      { ...PLAN, hostMounts: [{ kind: "propagation", target: "/", mode: "public" }] },
      /mode/,
    ],
    ["no object", undefined, /expected object/],
  ];
  test.each(cases)("%s", (_, plan, reason) => {
    expect(() => parseLaunchPlan(plan)).toThrow(expect.objectContaining({ code: "PLAN_INVALID" }));
    expect(() => parseLaunchPlan(plan)).toThrow(reason);
  });
});

test("mount steps are checked on their own too", () => {
  expect(parseMountSteps([tmpfs("size=1m")])).toHaveLength(1);
  expect(() => parseMountSteps([{ kind: "mount" }])).toThrow(
    expect.objectContaining({ code: "PLAN_INVALID" }),
  );
});

function tmpfs(data: string) {
  return { kind: "mount", fsType: "tmpfs", source: "tmpfs", target: "/tmp", data };
}
