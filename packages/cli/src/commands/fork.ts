import type { Command } from "commander";
import { criuFor } from "../criu.js";
import { EXIT, messageOf } from "../errors.js";
import { forkCheckpoint } from "../fork/fork.js";
import { durationText } from "../render/style.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { countOption } from "./_options.js";

import { sweep } from "./_sweep.js";

interface ForkFlags extends CommonOptions {
  readonly count: number;
}

/** `drums fork C --count N`: independent siblings, each proven usable before it is reported. */
export function registerFork(program: Command, context: CommandContext): void {
  const command = program
    .command("fork")
    .description("restore independent siblings of a checkpoint, each judged by its own screen")
    .argument("<checkpoint>")
    .option("--count <number>", "how many", countOption, 1);
  withCommonOptions(command).action((name: string, { count, ...flags }: ForkFlags) =>
    context.run(flags, async ({ home, progress, signal }) => {
      await sweep(home, progress);
      const criu = await criuFor(home, progress);
      const forked = await progress.step(`fork of ${name}`, () =>
        forkCheckpoint(
          home,
          { checkpoint: name, count },
          { criu, signal, onUsable: ({ id }) => progress.note(id) },
        ),
      );
      const failures = forked.failures.map(messageOf);
      return {
        exitCode: failures.length === 0 ? EXIT.done : EXIT.verdictFailed,
        document: { checkpoint: name, siblings: forked.siblings, failures },
        text: [
          ...forked.siblings.map(
            ({ id, restoreMs, usableMs }) =>
              `${id}  restored in ${durationText(restoreMs)}, usable after ${durationText(usableMs)}`,
          ),
          ...failures.map((failure) => `failed: ${failure}`),
          "",
        ].join("\n"),
      };
    }),
  );
}
