import type { Command } from "commander";
import { createCheckpoint } from "../checkpoint/create.js";
import { criuFor } from "../criu.js";
import { DrumsError, EXIT } from "../errors.js";
import { durationText } from "../render/style.js";
import { findSession } from "../session/store.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { type CriuOptionChoice, criuOption } from "./_options.js";
import { registerExport, registerImport } from "./checkpoint-archive.js";
import { registerInspectCheckpoint } from "./checkpoint-inspect.js";

interface CheckpointFlags extends CommonOptions, CriuOptionChoice {
  readonly name?: string;
}

/** `drums checkpoint S --name C`: a frozen moment of a session, which runs on; and what is done with checkpoints. */
export function registerCheckpoint(program: Command, context: CommandContext): void {
  const command = program
    .command("checkpoint")
    .description("freeze a session into a checkpoint; the session runs on")
    .argument("[session]")
    .option("--name <name>", "the checkpoint's name")
    .addOption(criuOption())
    // Without it the options of `checkpoint inspect C --json` would be taken as this command's own.
    .enablePositionalOptions();
  registerInspectCheckpoint(command, context);
  registerExport(command, context);
  registerImport(command, context);
  withCommonOptions(command).action(
    (session: string | undefined, { name, criu: version, ...flags }: CheckpointFlags) =>
      context.run(flags, async ({ home, progress, signal }) => {
        if (session === undefined || name === undefined) throw incomplete();
        const record = await (await findSession(home, session)).read();
        const criu = await criuFor(home, progress, { version });
        const { path, audit, dump, upper, closedConnections } = await progress.step("dump", () =>
          createCheckpoint(home, record, { name, criu, signal }),
        );
        const { frozenMs, totalMs, bytes, retries } = dump;
        return {
          document: {
            name,
            path,
            session: record.id,
            criu: criu.version,
            audit,
            frozenMs,
            totalMs,
            bytes,
            retries: retries.map(({ rule, cause, process }) => ({ rule, cause, process })),
            upper,
            closedConnections,
          },
          text: [
            name,
            `  ${(bytes / 2 ** 20).toFixed(1)} MiB, frozen for ${durationText(frozenMs)}`,
            ...retries.map(
              ({ cause }) => `  tried again, for ${cause.charAt(0).toLowerCase()}${cause.slice(1)}`,
            ),
            ...closedConnections.map(
              ({ ends, process }) =>
                `  ${process}'s connection ${ends} goes on here and is closed in siblings`,
            ),
            "",
          ].join("\n"),
        };
      }),
  );
}

function incomplete(): DrumsError {
  return new DrumsError({
    code: "USAGE",
    exitCode: EXIT.usage,
    what: "a checkpoint is made of a session and needs a name",
    hint: "drums checkpoint SESSION --name NAME",
  });
}
