import type { Command } from "commander";
import { inspectCheckpoint } from "../checkpoint/inspect.js";
import { inspectionText, processText } from "../render/inspection.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { countOption } from "./_options.js";

interface InspectFlags extends CommonOptions {
  readonly pid?: number;
}

/** `drums checkpoint inspect C`: what is in a checkpoint, read from its images. */
export function registerInspectCheckpoint(group: Command, context: CommandContext): void {
  const command = group
    .command("inspect")
    .description("show what a checkpoint holds: processes, files, sockets, memory, mounts, sizes")
    .argument("<checkpoint>")
    .option("--pid <number>", "one process with all its files and mappings", countOption);
  withCommonOptions(command).action((name: string, _: InspectFlags, self: Command) => {
    const { pid, ...flags } = self.optsWithGlobals<InspectFlags>();
    return context.run(flags, async ({ home }) => {
      const found = await inspectCheckpoint(home, name);
      return { document: found, text: pid === undefined ? inspectionText(found) : processText(found, pid) };
    });
  });
}
