import type { Command } from "commander";
import { type CheckpointSummary, summariseCheckpoints } from "../checkpoint/list.js";
import { type PoolSummary, summarisePools } from "../pool/summary.js";
import { networkCell } from "../render/ports.js";
import { bytesText } from "../render/style.js";
import { renderTable } from "../render/table.js";
import { listSessions, type SessionSummary } from "../session/list.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

/** `drums ps`: sessions, checkpoints and pools of this home. */
export function registerPs(program: Command, context: CommandContext): void {
  const command = program.command("ps").description("list sessions, checkpoints and pools");
  withCommonOptions(command).action((flags: CommonOptions) =>
    context.run(flags, async ({ home }) => {
      const sessions = await listSessions(home);
      const checkpoints = await summariseCheckpoints(home);
      const pools = await summarisePools(home);
      return {
        document: { sessions, checkpoints, pools },
        text: `${sessionTable(sessions)}${checkpointTable(checkpoints)}${poolTable(pools)}`,
      };
    }),
  );
}

function sessionTable(sessions: readonly SessionSummary[]): string {
  if (sessions.length === 0) return "no sessions\n";
  return renderTable(
    ["SESSION", "STATE", "DESKTOP", "PROFILE", "PROCESSES", "MEMORY", "NETWORK", "CREATED", "OF CHECKPOINT"],
    sessions.map((session) => [
      session.id,
      session.standing,
      session.desktop,
      session.profile,
      String(session.processes),
      memoryCell(session),
      networkCell(session.network, session.ports),
      session.createdAt,
      session.checkpoint ?? "",
    ]),
  );
}

/** What it holds of what it may hold, and what the limit has cost it. */
function memoryCell({ usage, limits }: SessionSummary): string {
  if (usage?.memoryBytes === undefined) return "";
  const bound = limits?.memoryMaxBytes;
  const kills = usage.oomKills ? `, ${usage.oomKills} killed for it` : "";
  return `${bytesText(usage.memoryBytes)}${bound === undefined ? "" : ` of ${bytesText(bound)}`}${kills}`;
}

function checkpointTable(checkpoints: readonly CheckpointSummary[]): string {
  if (checkpoints.length === 0) return "";
  return `\n${renderTable(
    ["CHECKPOINT", "DESKTOP", "CRIU", "SIZE", "CREATED"],
    checkpoints.map(({ name, desktop, criu, bytes, createdAt }) => [
      name,
      desktop,
      criu,
      `${(bytes / 2 ** 20).toFixed(1)} MiB`,
      createdAt,
    ]),
  )}`;
}

function poolTable(pools: readonly PoolSummary[]): string {
  if (pools.length === 0) return "";
  return `\n${renderTable(
    ["POOL OF", "SIZE", "WARM"],
    pools.map(({ checkpoint, size, warm }) => [checkpoint, String(size), String(warm)]),
  )}`;
}
