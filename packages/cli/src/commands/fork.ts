import { type Command, Option } from "commander";
import { criuForCheckpoint } from "../criu.js";
import { EXIT, messageOf } from "../errors.js";
import type { ForkRequest } from "../fork/fork.js";
import { forkTuned, type Settled } from "../fork/tuned.js";
import type { UsableSibling } from "../fork/usable.js";
import { portLines } from "../render/ports.js";
import { bytesText, durationText } from "../render/style.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import {
  allowUnlimitedOption,
  type CriuOptionChoice,
  countOption,
  criuOption,
  insidePathOption,
} from "./_options.js";
import { sweep } from "./_sweep.js";
import { FILL } from "./pool.js";

interface ForkFlags extends CommonOptions, CriuOptionChoice {
  readonly count: number;
  readonly identity: "kept" | "fresh";
  readonly onFork?: string;
  readonly onForkAs: "root" | "user";
  readonly wait?: boolean;
  readonly merge?: boolean;
  readonly hostTuning?: boolean;
  readonly allowUnlimited?: ForkRequest["allowUnlimited"];
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
  command
    .addOption(criuOption("the one that wrote the checkpoint; only a newer one can read it too"))
    .option("--wait", "more than fit: make those that do now, and the rest as room comes")
    .option("--merge", "let the kernel merge equal memory of the siblings; they can then time each other's")
    .option("--host-tuning", "meanwhile turn knobs of the whole machine: page size and, with --merge, ksmd");
  withCommonOptions(command).action((name: string, flags: ForkFlags) =>
    context.run(flags, async ({ home, progress, signal, inBackground }) => {
      await sweep(home, progress);
      const criu = await criuForCheckpoint(home, name, { progress, version: flags.criu });
      const { wait = false, hostTuning = false } = flags;
      const onUsable = ({ id }: UsableSibling) => progress.note(id);
      const { siblings, settled, ...forked } = await progress.step(`fork of ${name}`, () =>
        forkTuned(home, requestOf(name, flags), { criu, signal, wait, hostTuning, onUsable }),
      );
      if (siblings.some(({ pooled }) => pooled)) inBackground(FILL);
      const failures = forked.failures.map(messageOf);
      return {
        exitCode: failures.length === 0 ? EXIT.done : EXIT.verdictFailed,
        document: { checkpoint: name, siblings, failures, ...(settled && { settled }) },
        text: [
          ...siblings.map(siblingText),
          ...(settled === undefined ? [] : [settledText(settled)]),
          ...failures.map((failure) => `failed: ${failure}`),
          "",
        ].join("\n"),
      };
    }),
  );
}

function requestOf(checkpoint: string, flags: ForkFlags): ForkRequest {
  const { count, identity, onFork, onForkAs, merge = false, allowUnlimited } = flags;
  return {
    ...{ checkpoint, count, identity, merge, newerCriu: flags.criu !== undefined },
    ...(allowUnlimited && { allowUnlimited }),
    onFork: onFork === undefined ? undefined : { path: onFork, as: onForkAs },
  };
}

/** Memory of a sibling, on average, before and after. */
function settledText({ settledMs, before, after }: Settled): string {
  const each = (all: Settled["before"]) =>
    bytesText(all.reduce((sum, { ownBytes }) => sum + ownBytes, 0) / Math.max(all.length, 1));
  const when = settledMs === undefined ? "not settled in time" : `settled after ${durationText(settledMs)}`;
  return `memory of a sibling: ${each(before)} before merging, ${each(after)} now; ${when}`;
}

function siblingText({ id, restoreMs, usableMs, pooled, ports }: UsableSibling): string {
  const how = pooled ? "taken from the pool" : `restored in ${durationText(restoreMs)}`;
  return `${id}  ${how}, usable after ${durationText(usableMs)}\n${portLines(ports)}`.trimEnd();
}
