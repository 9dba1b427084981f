import { lstat } from "node:fs/promises";
import { resolveInRoot } from "../resolve.js";
import { walkTree } from "../walk.js";
import { type AuditFinding, problem } from "./finding.js";

const MERGED = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/**
 * Whether a root's /bin, /lib and so on are links into /usr: a layer that brings them as folders would
 * hide the whole of /usr's.
 */
export async function auditMergedUsr(root: string): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  for (const name of MERGED) {
    const stats = await lstat(`${root}/${name}`).catch(() => undefined);
    if (!stats) continue;
    const path = `/${name}`;
    if (!stats.isSymbolicLink())
      findings.push({ name: "merged-usr", status: "note", path, detail: "a folder of its own" });
    else findings.push(await linkFinding(root, path));
  }
  return findings;
}

async function linkFinding(root: string, path: string): Promise<AuditFinding> {
  const { inside, exists } = await resolveInRoot(root, path);
  if (exists) return { name: "merged-usr", status: "ok", path, detail: `a link to ${inside}` };
  return problem("merged-usr", path, `a link to ${inside}, which does not exist`, "Mend the image.");
}

/**
 * Folders of a layer that stand where the root has a link to a folder: over that root they hide all
 * that the link leads to. unpackDebLayer and folderLayer avoid it when they are given the root.
 */
export async function auditLayerLinks(root: string, layer: string): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  for await (const { path, stats } of walkTree(layer)) {
    const inside = `/${path.toString("utf8")}`;
    if (!stats.isDirectory() || findings.some((finding) => inside.startsWith(`${finding.path}/`))) continue;
    const below = await resolveInRoot(root, inside, { followLast: false });
    const there = below.exists ? await lstat(below.host) : undefined;
    if (there?.isSymbolicLink())
      findings.push(
        problem(
          "link-replaced",
          inside,
          `a folder where the root has a link to ${(await resolveInRoot(root, inside)).inside}`,
          "Make the layer with the `root` that it is for: its files then go where the link leads.",
        ),
      );
  }
  return findings;
}
