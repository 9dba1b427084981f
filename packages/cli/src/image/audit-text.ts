import type { AuditFinding } from "@drums/rootfs";
import type { TableOptions } from "../render/claims.js";
import { type Paint, printable } from "../render/style.js";
import { renderTable } from "../render/table.js";
import type { ImageAudit } from "./audit.js";

/** An audit for people: what was found, then tables of programs, desktop sessions and files that give rights. */
export function auditText(audit: ImageAudit, { paint }: TableOptions): string {
  const { path, osRelease, mount, findings, ok } = audit;
  const tables = [...programTables(audit), sessionsTable(audit), privilegedTable(audit)];
  return [
    `${printable(path)}: ${printable(osRelease.PRETTY_NAME ?? "no known release")}, mounted by ${mount.way}`,
    ...(mount.journalReplayed ? ["its journal was dirty and has been replayed beside the image"] : []),
    ...findings.flatMap((finding) => findingLines(finding, paint)),
    "",
    ...tables.filter((table) => table !== ""),
    ok ? "fit for a desktop" : paint("red", "not fit for a desktop"),
    "",
  ].join("\n");
}

function findingLines({ name, status, path, detail, remedy }: AuditFinding, paint: Paint): string[] {
  const marks = { ok: paint("green", "✓"), note: "·", problem: paint("red", "✗") } as const;
  const line = `${marks[status]} ${name.padEnd(12)}  ${printable(path)}: ${printable(detail)}`;
  return remedy === undefined ? [line] : [line, `  ${" ".repeat(12)}  ${printable(remedy)}`];
}

function programTables({ programs, versions, libraries }: ImageAudit): string[] {
  const followed = libraries.map(({ program, libraries: loaded, missing }) => [
    program,
    String(loaded.length),
    missing.map(({ name }) => name).join(" "),
  ]);
  const known = Object.entries(programs).map(([name, path]) => [name, path, versions[name] ?? ""]);
  return [
    table(["PROGRAM", "PATH", "VERSION"], known),
    table(["FOLLOWED", "LIBRARIES", "MISSING"], followed),
  ];
}

function sessionsTable({ sessions }: ImageAudit): string {
  const rows = sessions.map(({ id, kind, name, exec }) => [id, kind, name, exec ?? ""]);
  return table(["SESSION", "KIND", "NAME", "COMMAND"], rows);
}

function privilegedTable({ privileged }: ImageAudit): string {
  const rows = privileged.map(({ path, setuid, setgid, capabilities, uid, gid }) => [
    path,
    [...(setuid ? [`setuid ${uid}`] : []), ...(setgid ? [`setgid ${gid}`] : []), ...capabilities].join(" "),
  ]);
  return table(["GIVES RIGHTS", "WHICH"], rows);
}

/** Nothing where there are no rows. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : renderTable(head, rows);
}
