import type { Command } from "commander";
import { EXIT } from "../errors.js";
import { collectGarbage } from "../session/gc.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

/** `drums gc`: takes down what killed processes left. */
export function registerGc(program: Command, context: CommandContext): void {
  const command = program
    .command("gc")
    .description("take down what killed processes and dead sessions left; what lives is not touched");
  withCommonOptions(command).action((flags: CommonOptions) =>
    context.run(flags, async ({ home, progress }) => {
      const collected = await progress.step("collecting", () => collectGarbage(home));
      const { sessions, checkpoints, roots, layers, knobs, failures } = collected;
      const lines = [
        ...sessions.map((id) => `session ${id}`),
        ...checkpoints.map((path) => `unfinished checkpoint ${path}`),
        ...roots.map((id) => `root ${id}`),
        ...layers.map((path) => `unfinished layer ${path}`),
        ...knobs.map((file) => `put back /sys/kernel/${file}`),
        ...failures.map((failure) => `failed: ${failure}`),
      ];
      return {
        exitCode: failures.length === 0 ? EXIT.done : EXIT.fault,
        document: collected,
        text: lines.length === 0 ? "nothing to take down\n" : `${lines.join("\n")}\n`,
      };
    }),
  );
}
