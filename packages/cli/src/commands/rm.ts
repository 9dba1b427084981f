import type { Command } from "commander";
import { collectDeleted, type RemovedCheckpoint, removeCheckpoint } from "../checkpoint/remove.js";
import { listCheckpoints } from "../checkpoint/store.js";
import type { Home } from "../home.js";
import { removePool } from "../pool/index.js";
import { removeSession } from "../session/remove.js";
import { findSession } from "../session/store.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

/** `drums rm NAME…`: sessions, and checkpoints with their pools, with everything that they hold. */
export function registerRm(program: Command, context: CommandContext): void {
  const command = program
    .command("rm")
    .description("end and remove sessions, or remove checkpoints")
    .argument("<name...>", "sessions or checkpoints");
  withCommonOptions(command).action((names: string[], flags: CommonOptions) =>
    context.run(flags, async ({ home, progress }) => {
      const removed: RemovedCheckpoint[] = [];
      for (const name of names)
        removed.push(await progress.step(`removing ${name}`, () => removeOne(home, name)));
      await collectDeleted(home);
      const kept = removed.filter(({ keptFor }) => keptFor.length > 0);
      return {
        document: { removed: removed.map(({ name }) => name), kept },
        text: `${removed.map(removedText).join("\n")}\n`,
      };
    }),
  );
}

function removedText({ name, keptFor }: RemovedCheckpoint): string {
  return keptFor.length === 0
    ? name
    : `${name}\n  its layers stay until these are gone: ${keptFor.join(", ")}`;
}

async function removeOne(home: Home, name: string): Promise<RemovedCheckpoint> {
  if ((await listCheckpoints(home)).includes(name)) {
    await removePool(home, name);
    return removeCheckpoint(home, name);
  }
  const folder = await findSession(home, name);
  await removeSession(home, folder);
  return { name: folder.id, keptFor: [] };
}
