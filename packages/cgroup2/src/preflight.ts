import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { controllerStatus, type Gap } from "./controllers.js";
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
  /** The group below which a group is made for a moment, from the hierarchy's root down; default `drums`. */
  readonly parent?: string;
}

const DEFAULT_CONTROLLERS = ["cpu", "memory", "pids"];

/**
 * Says what cgroup2 can do on this machine: whether it is mounted and writable, whether a group of one's own can
 * be frozen and killed (a group is made for a moment to see), and for each controller whether limits can be in
 * force. Never throws for what it finds.
 */
export async function preflight(options: PreflightOptions = {}): Promise<PreflightItem[]> {
  const asked = [...new Set([...(options.controllers ?? DEFAULT_CONTROLLERS), ...(options.required ?? [])])];
  let hierarchy: Hierarchy;
  try {
    hierarchy = await readHierarchy(options);
  } catch (error) {
    return [fault("cgroup2", error)];
  }
  if (hierarchy.mountPoint === undefined)
    return [noCgroup2(hierarchy), ...asked.map((name) => controllerItem(hierarchy, name, options))];
  return [
    { name: "cgroup2", status: "ok", detail: `${hierarchy.mode}, at ${hierarchy.mountPoint}` },
    await groupItem(hierarchy, options.parent ?? "drums"),
    ...asked.map((name) => controllerItem(hierarchy, name, options)),
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
    const path = [...parent.split("/"), `preflight-${randomBytes(6).toString("hex")}`];
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
  { required = [], parent = "drums" }: PreflightOptions,
): PreflightItem {
  const name = `cgroup2 ${controller}`;
  const gap = (found: Gap): PreflightItem => ({
    name,
    status: required.includes(controller) ? "blocker" : "gap",
    detail: `${found.reason}; limits of ${controller} are not in force`,
    remedy: found.remedy,
  });
  try {
    const status = controllerStatus({ hierarchy, path: [...parent.split("/"), "group"], controller });
    if (status.gap !== undefined) return gap(status.gap);
    return {
      name,
      status: "ok",
      detail: status.enabled
        ? `enabled for groups in ${parent}`
        : `available; it can be enabled down to ${parent}`,
    };
  } catch (error) {
    return fault(name, error);
  }
}

function fault(name: string, error: unknown): PreflightItem {
  if (!(error instanceof CgroupError)) throw error;
  return { name, status: "gap", detail: error.message, remedy: error.hint };
}
