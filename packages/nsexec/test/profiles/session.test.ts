import { expect, test } from "vitest";
import {
  buildRootMounts,
  buildSessionPlan,
  parseLaunchPlan,
  type SessionPlanOptions,
} from "../../src/index.js";

const OPTIONS: SessionPlanOptions = {
  profile: "hardened",
  lowers: [
    { path: "/srv/dumped", idmap: false },
    { path: "/srv/root", idmap: true },
  ],
  upper: "/srv/s/upper",
  work: "/srv/s/work",
  scratch: "/srv/s/scratch",
  hostname: "stage",
};

const overlayOf = (options: SessionPlanOptions) =>
  buildRootMounts(options).hostMounts.find((step) => step.kind === "mount" && step.fsType === "overlay");

test("both profiles make plans that the schema takes", () => {
  for (const profile of ["hardened", "compat"] as const)
    expect(() => parseLaunchPlan(buildSessionPlan({ ...OPTIONS, profile }).plan)).not.toThrow();
});

test("hardened shifts a layer whose owners are ordinary, and not one that is shifted already", () => {
  expect(overlayOf(OPTIONS)).toMatchObject({
    data: "lowerdir=/srv/dumped:/srv/s/scratch/layers/1,upperdir=/srv/s/upper,workdir=/srv/s/work,index=on,nfs_export=on",
  });
  const layers = buildRootMounts(OPTIONS).hostMounts.filter(({ kind }) => kind === "layer");
  expect(layers).toEqual([{ kind: "layer", source: "/srv/root", target: "/srv/s/scratch/layers/1" }]);
});

test("compat stacks every layer as it is, has no id map and no external mount", () => {
  const compat = { ...OPTIONS, profile: "compat" as const };
  expect(overlayOf(compat)).toMatchObject({
    data: expect.stringContaining("lowerdir=/srv/dumped:/srv/root,"),
  });
  const { plan, externals } = buildSessionPlan(compat);
  expect(plan.namespaces).not.toContain("user");
  expect(plan.idMap).toBeUndefined();
  expect(externals).toEqual([]);
});

test("hardened declares the /dev that it binds in from the host", () => {
  const { plan, externals } = buildSessionPlan(OPTIONS);
  expect(externals).toEqual([{ mountPoint: "/dev", key: "dev", hostPath: "/srv/s/scratch/dev" }]);
  expect(plan.insideMounts).toContainEqual({ kind: "bind", source: "/srv/s/scratch/dev", target: "/dev" });
});

test("a restore's mounts are those of the launch", () => {
  expect(buildRootMounts(OPTIONS).hostMounts).toEqual(buildSessionPlan(OPTIONS).plan.hostMounts);
});

test("new privileges are off unless sudo is asked for", () => {
  expect(buildSessionPlan(OPTIONS).plan.noNewPrivs).toBe(true);
  expect(buildSessionPlan({ ...OPTIONS, sudo: true }).plan.noNewPrivs).toBe(false);
});

test("a folder whose name overlayfs cannot take is refused with its path", () => {
  const odd = { ...OPTIONS, upper: "/srv/a,b" };
  expect(() => buildSessionPlan(odd)).toThrow(
    expect.objectContaining({ code: "PLAN_INVALID", path: "/srv/a,b" }),
  );
});
