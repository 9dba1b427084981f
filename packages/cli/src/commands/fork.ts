import { type Command, Option } from "commander";
import { criuFor } from "../criu.js";
import { EXIT, messageOf } from "../errors.js";
import { forkCheckpoint } from "../fork/fork.js";
import type { UsableSibling } from "../fork/usable.js";
import { portLines } from "../render/ports.js";
import { durationText } from "../render/style.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { allowUnlimitedOption, countOption, insidePathOption } from "./_options.js";
import { sweep } from "./_sweep.js";
import { FILL } from "./pool.js";

interface ForkFlags extends CommonOptions {
  readonly count: number;
  readonly identity: "kept" | "fresh";
  readonly onFork?: string;
  readonly onForkAs: "root" | "user";
  readonly wait?: boolean;
  readonly allowUnlimited?: boolean;
}

/** `drums fork C --count N`: independent siblings, each proven usable before it is reported. */
export function registerFork(program: Command, context: CommandContext): void {
  const command = program
    .command("fork")
    .description("restore independent siblings of a checkpoint, each judged by its own screen")
    .argument("<checkpoint>")
    .option("--count <number>", "how many", countOption, 1)
    .addOption(
      new Option(
        "--identity <kind>",
        "fresh: a machine-id and ssh host keys of its own for each; kept: the checkpoint's",
      )
        .choices(["kept", "fresh"])
        .default("kept"),
    )
    .option(
      "--on-fork <path>",
      "a program of the session that each runs first; if it fails, so does that sibling",
      insidePathOption,
    )
    .addOption(new Option("--on-fork-as <who>", "who runs it").choices(["root", "user"]).default("root"))
    .addOption(allowUnlimitedOption());
  command.option("--wait", "more than fit: make those that do now, and the rest as room comes");
  withCommonOptions(command).action(
    (
      name: string,
      { count, identity, onFork, onForkAs, wait = false, allowUnlimited, ...flags }: ForkFlags,
    ) =>
      context.run(flags, async ({ home, progress, signal, inBackground }) => {
        await sweep(home, progress);
        const criu = await criuFor(home, progress);
        const forked = await progress.step(`fork of ${name}`, () =>
          forkCheckpoint(
            home,
            {
              checkpoint: name,
              count,
              ...(allowUnlimited && { allowUnlimited }),
              identity,
              onFork: onFork === undefined ? undefined : { path: onFork, as: onForkAs },
            },
            { criu, signal, wait, onUsable: ({ id }) => progress.note(id) },
          ),
        );
        if (forked.siblings.some(({ pooled }) => pooled)) inBackground(FILL);
        const failures = forked.failures.map(messageOf);
        return {
          exitCode: failures.length === 0 ? EXIT.done : EXIT.verdictFailed,
          document: { checkpoint: name, siblings: forked.siblings, failures },
          text: [
            ...forked.siblings.map(siblingText),
            ...failures.map((failure) => `failed: ${failure}`),
            "",
          ].join("\n"),
        };
      }),
  );
}

function siblingText({ id, restoreMs, usableMs, pooled, ports }: UsableSibling): string {
  const how = pooled ? "taken from the pool" : `restored in ${durationText(restoreMs)}`;
  return `${id}  ${how}, usable after ${durationText(usableMs)}\n${portLines(ports)}`.trimEnd();
}
