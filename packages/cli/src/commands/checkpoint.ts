import type { Command } from "commander";
import { createCheckpoint } from "../checkpoint/create.js";
import { criuFor } from "../criu.js";
import { durationText } from "../render/style.js";
import { findSession } from "../session/store.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

/** `drums checkpoint S --name C`: a frozen moment of a session, which runs on. */
export function registerCheckpoint(program: Command, context: CommandContext): void {
  const command = program
    .command("checkpoint")
    .description("freeze a session into a checkpoint; the session runs on")
    .argument("<session>")
    .requiredOption("--name <name>", "the checkpoint's name");
  withCommonOptions(command).action((session: string, flags: CommonOptions & { readonly name: string }) =>
    context.run(flags, async ({ home, progress, signal }) => {
      const record = await (await findSession(home, session)).read();
      const criu = await criuFor(home, progress);
      const { path, audit, dump, upper, closedConnections } = await progress.step("dump", () =>
        createCheckpoint(home, record, { name: flags.name, criu, signal }),
      );
      const { frozenMs, totalMs, bytes } = dump;
      return {
        document: {
          name: flags.name,
          path,
          session: record.id,
          criu: criu.version,
          audit,
          frozenMs,
          totalMs,
          bytes,
          upper,
          closedConnections,
        },
        text: [
          flags.name,
          `  ${(bytes / 2 ** 20).toFixed(1)} MiB, frozen for ${durationText(frozenMs)}`,
          ...closedConnections.map(
            ({ ends, process }) => `  ${process}'s connection ${ends} goes on here and is closed in siblings`,
          ),
          "",
        ].join("\n"),
      };
    }),
  );
}
