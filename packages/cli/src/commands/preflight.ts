import type { Command } from "commander";
import { capacityOf, siblingNeeds } from "../capacity/index.js";
import { openCheckpoint } from "../checkpoint/load.js";
import { EXIT } from "../errors.js";
import type { Home } from "../home.js";
import {
  type AreaItem,
  blockersOf,
  collectPreflight,
  siblingItems,
  thisMachine,
} from "../preflight/index.js";
import { preflightTable } from "../preflight/table.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { type CriuOptionChoice, countOption, criuOption } from "./_options.js";

interface PreflightFlags extends CommonOptions, CriuOptionChoice {
  readonly siblings: number;
  readonly checkpoint?: string;
}

/** `drums preflight`: what this machine offers and lacks, exit status 3 where something forbids a start. */
export function registerPreflight(program: Command, context: CommandContext): void {
  const command = program
    .command("preflight")
    .description("say what this machine can do, and for each gap the remedy")
    .option("--siblings <count>", "how many siblings are to live at a time", countOption, 3)
    .option("--checkpoint <name>", "say how many more siblings of this checkpoint fit, by its own facts")
    .addOption(criuOption());
  withCommonOptions(command).action((options: PreflightFlags) =>
    context.run(options, async ({ home }) => {
      const { siblings, checkpoint, criu } = options;
      const room = checkpoint === undefined ? undefined : await roomFor(home, checkpoint, siblings);
      const items = [...(room?.items ?? []), ...(await collectPreflight({ home, siblings, criu }))];
      const blockers = blockersOf(items).length;
      return {
        exitCode: blockers > 0 ? EXIT.blocker : EXIT.done,
        document: { ok: blockers === 0, siblings, ...(room && { fits: room.fits }), items },
        text: (table) => preflightTable(items, table),
      };
    }),
  );
}

async function roomFor(
  home: Home,
  checkpoint: string,
  count: number,
): Promise<{ readonly fits: number; readonly items: AreaItem[] }> {
  const { folder, spec } = await openCheckpoint(home, checkpoint);
  const needs = await siblingNeeds({ images: folder.images, spec });
  const capacity = capacityOf(needs, { home: home.path, machine: thisMachine });
  return { fits: capacity.fits, items: siblingItems(capacity, { checkpoint, count }) };
}
