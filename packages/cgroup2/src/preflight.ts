import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { whyUnavailable } from "./enable.js";
import { CgroupError } from "./errors.js";
import { createGroup } from "./group.js";
import { type Hierarchy, type HierarchyOptions, readHierarchy } from "./hierarchy.js";

/** One finding of {@link preflight}; a gap or a blocker always has a remedy. */
export interface PreflightItem {
  readonly name: string;
  readonly status: "ok" | "gap" | "blocker";
  readonly detail: string;
  readonly remedy?: string;
}

/** Options of {@link preflight}. */
export interface PreflightOptions extends HierarchyOptions {
  /** The controllers to ask about; default cpu, memory and pids. */
  readonly controllers?: readonly string[];
  /** Controllers without which nothing is to be started: a missing one is a blocker; default none. */
  readonly required?: readonly string[];
  /** The group below which a group is made for a moment; default `drums`. */
  readonly parent?: string;
}

const DEFAULT_CONTROLLERS = ["cpu", "memory", "pids"];

/**
 * Says what cgroup2 can do on this machine: whether it is mounted and writable, whether a group of one's own can
 * be frozen and killed (a group is made for a moment to see), and for each controller whether limits can be in
 * force. Never throws for what it finds.
 */
export async function preflight(options: PreflightOptions = {}): Promise<PreflightItem[]> {
  const required = options.required ?? [];
  const asked = [...new Set([...(options.controllers ?? DEFAULT_CONTROLLERS), ...required])];
  let hierarchy: Hierarchy;
  try {
    hierarchy = await readHierarchy(options);
  } catch (error) {
    return [fault("cgroup2", error)];
  }
  if (hierarchy.mountPoint === undefined)
    return [noCgroup2(hierarchy), ...asked.map((name) => controllerItem(hierarchy, name, required))];
  return [
    { name: "cgroup2", status: "ok", detail: `${hierarchy.mode}, at ${hierarchy.mountPoint}` },
    await groupItem(hierarchy, options.parent ?? "drums"),
    ...asked.map((name) => controllerItem(hierarchy, name, required)),
  ];
}

function noCgroup2(hierarchy: Hierarchy): PreflightItem {
  return {
    name: "cgroup2",
    status: "gap",
    detail:
      hierarchy.mode === "v1" ? "only cgroup v1 hierarchies are mounted" : "no cgroup hierarchy is mounted",
    remedy: "mount it: mkdir -p /sys/fs/cgroup/unified && mount -t cgroup2 none /sys/fs/cgroup/unified",
  };
}

/** The files that freezing and killing need, with the Linux version that brought them. */
const LIFECYCLE_FILES = { "cgroup.freeze": "5.2", "cgroup.kill": "5.14" } as const;

async function groupItem(hierarchy: Hierarchy, parent: string): Promise<PreflightItem> {
  const name = "cgroup2 group";
  try {
    const path = [parent, `preflight-${randomBytes(6).toString("hex")}`];
    const group = await createGroup({ hierarchy, path });
    const missing = Object.entries(LIFECYCLE_FILES).filter(([file]) => !existsSync(join(group.path, file)));
    await group.remove();
    if (missing.length === 0)
      return { name, status: "ok", detail: "a group can be made, frozen, killed and removed" };
    const list = missing.map(([file, version]) => `${file} (Linux ${version})`).join(", ");
    return { name, status: "gap", detail: `the kernel lacks ${list}`, remedy: "use a newer kernel" };
  } catch (error) {
    return fault(name, error);
  }
}

function controllerItem(
  hierarchy: Hierarchy,
  controller: string,
  required: readonly string[],
): PreflightItem {
  const name = `cgroup2 ${controller}`;
  const missing = whyUnavailable(hierarchy, controller);
  if (missing === undefined)
    return { name, status: "ok", detail: `the root offers ${controller}; it can be enabled downwards` };
  return {
    name,
    status: required.includes(controller) ? "blocker" : "gap",
    detail: `${missing.reason}; limits of ${controller} are not in force`,
    remedy: missing.remedy,
  };
}

function fault(name: string, error: unknown): PreflightItem {
  if (!(error instanceof CgroupError)) throw error;
  return { name, status: "gap", detail: error.message, remedy: error.hint };
}
