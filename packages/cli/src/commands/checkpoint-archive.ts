import type { Command } from "commander";
import { exportCheckpoint } from "../checkpoint/archive/export.js";
import { importCheckpoint } from "../checkpoint/archive/import.js";
import { createHome } from "../home.js";
import { bytesText } from "../render/style.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

interface ExportFlags extends CommonOptions {
  readonly zstd?: boolean;
}

/** `drums checkpoint export C FILE` */
export function registerExport(group: Command, context: CommandContext): void {
  const command = group
    .command("export")
    .description("write a checkpoint as one file, with checksums; the image below it is not part of it")
    .argument("<checkpoint>")
    .argument("<file>")
    .option("--zstd", "pack it with zstd");
  withCommonOptions(command).action((checkpoint: string, file: string, _: ExportFlags, self: Command) => {
    const flags = self.optsWithGlobals<ExportFlags>();
    return context.run(flags, async ({ home, progress, signal }) => {
      const report = await progress.step(`exporting ${checkpoint}`, () =>
        exportCheckpoint(home, { checkpoint, file }, { zstd: flags.zstd === true, signal }),
      );
      return { document: report, text: `${report.file}\n  ${bytesText(report.bytes)}\n` };
    });
  });
}

interface ImportFlags extends CommonOptions {
  readonly name?: string;
  readonly image?: string;
}

/** `drums checkpoint import FILE` */
export function registerImport(group: Command, context: CommandContext): void {
  const command = group
    .command("import")
    .description("make a checkpoint of an exported file; take files only from whom you trust")
    .argument("<file>")
    .option("--name <name>", "default: the file's name up to its first dot")
    .option("--image <file>", "the image that it stands on, where it is not at its old place");
  withCommonOptions(command).action((file: string, _: ImportFlags, self: Command) => {
    const { name, image, ...flags } = self.optsWithGlobals<ImportFlags>();
    return context.run(flags, async ({ home, progress, signal }) => {
      await createHome(home);
      const report = await progress.step(`importing ${file}`, () =>
        importCheckpoint(home, { file, name, image }, { signal }),
      );
      return { document: report, text: `${report.name}\n  on ${report.image}\n` };
    });
  });
}
