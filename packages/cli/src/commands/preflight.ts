import type { Command } from "commander";
import { EXIT } from "../errors.js";
import { blockersOf, collectPreflight } from "../preflight/index.js";
import { preflightTable } from "../preflight/table.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { countOption } from "./_options.js";

/** `drums preflight`: what this machine offers and lacks, exit status 3 where something forbids a start. */
export function registerPreflight(program: Command, context: CommandContext): void {
  const command = program
    .command("preflight")
    .description("say what this machine can do, and for each gap the remedy")
    .option("--siblings <count>", "how many siblings are to live at a time", countOption, 3);
  withCommonOptions(command).action((options: CommonOptions & { readonly siblings: number }) =>
    context.run(options, async ({ home }) => {
      const items = await collectPreflight({ home, siblings: options.siblings });
      const blockers = blockersOf(items).length;
      return {
        exitCode: blockers > 0 ? EXIT.blocker : EXIT.done,
        document: { ok: blockers === 0, siblings: options.siblings, items },
        text: (table) => preflightTable(items, table),
      };
    }),
  );
}
