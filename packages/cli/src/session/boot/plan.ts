import { buildSessionPlan, type SessionPlan } from "@drums/nsexec";
import { freshUpper, type MountedRoot, mountSizedFolder } from "@drums/rootfs";
import type { SessionSpec } from "../record.js";
import type { SessionFolder } from "../store.js";

/** What a plan is made of. */
export interface PlanInput {
  readonly spec: SessionSpec;
  readonly folder: SessionFolder;
  readonly root: MountedRoot;
}

/**
 * Makes a session's fresh upper and the plan of its mounts. A restore uses the same plan's host mounts:
 * a sibling's overlay is stacked just as its checkpoint's was, with the dumped upper as one more layer.
 * @param options.scratch  where private mount namespaces put their mount points; default the session folder's
 */
export async function sessionPlan(
  { spec, folder, root }: PlanInput,
  { scratch = folder.scratch }: { readonly scratch?: string } = {},
): Promise<SessionPlan> {
  const { idBase, profile, hostname, layers, sudo, pidMax, upperBytes } = spec;
  if (upperBytes !== undefined) await mountSizedFolder(folder.stack, { bytes: upperBytes });
  await freshUpper(folder.stack, idBase === undefined ? {} : { owner: { uid: idBase, gid: idBase } });
  return buildSessionPlan({
    profile,
    lowers: [...layers.map(({ path, idmap }) => ({ path, idmap })), { path: root.path, idmap: true }],
    upper: folder.upper,
    work: folder.work,
    scratch,
    hostname,
    ...(pidMax === undefined ? {} : { pidMax }),
    ...(sudo === undefined ? {} : { sudo }),
    ...(idBase === undefined ? {} : { idBase }),
  });
}
