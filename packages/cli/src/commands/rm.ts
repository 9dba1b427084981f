import { rm } from "node:fs/promises";
import type { Command } from "commander";
import { checkpointFolder, listCheckpoints } from "../checkpoint/store.js";
import { DrumsError, EXIT } from "../errors.js";
import type { Home } from "../home.js";
import { checkpointUsers } from "../session/list.js";
import { removeSession } from "../session/remove.js";
import { findSession } from "../session/store.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

/** `drums rm NAME…`: sessions and checkpoints, with everything that they hold. */
export function registerRm(program: Command, context: CommandContext): void {
  const command = program
    .command("rm")
    .description("end and remove sessions, or remove checkpoints")
    .argument("<name...>", "sessions or checkpoints");
  withCommonOptions(command).action((names: string[], flags: CommonOptions) =>
    context.run(flags, async ({ home, progress }) => {
      const removed: string[] = [];
      for (const name of names)
        removed.push(await progress.step(`removing ${name}`, () => removeOne(home, name)));
      return { document: { removed }, text: `${removed.join("\n")}\n` };
    }),
  );
}

async function removeOne(home: Home, name: string): Promise<string> {
  if ((await listCheckpoints(home)).includes(name)) {
    await removeCheckpoint(home, name);
    return name;
  }
  const folder = await findSession(home, name);
  await removeSession(home, folder);
  return folder.id;
}

/** A checkpoint's upper is a layer of its siblings: it goes when none of them lives. */
async function removeCheckpoint(home: Home, name: string): Promise<void> {
  const users = await checkpointUsers(home, name);
  if (users.length === 0) return rm(checkpointFolder(home, name).path, { recursive: true });
  throw new DrumsError({
    code: "CHECKPOINT_IN_USE",
    exitCode: EXIT.usage,
    what: `checkpoint ${name} is in use`,
    why: `its files are a layer of ${users.join(", ")}`,
    hint: `remove those first: drums rm ${users.join(" ")}`,
  });
}
