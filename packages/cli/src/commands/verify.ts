import type { Command } from "commander";
import { EXIT } from "../errors.js";
import { verifyEvidence } from "../evidence/verify.js";
import { renderEvidence } from "../render/evidence.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { countOption } from "./_options.js";

/** `drums verify DIR`: verdicts and claims again, from raw records. */
export function registerVerify(program: Command, context: CommandContext): void {
  const command = program
    .command("verify")
    .description(
      "compute verdicts and claims again from the raw records of a run, and check every record's sum",
    )
    .argument("<dir>", "the folder of a run's evidence, or one of its attempts")
    .option("--reasons <count>", "how many reasons to show of an established claim", countOption, 0);
  withCommonOptions(command).action((dir: string, options: CommonOptions & { readonly reasons: number }) =>
    context.run(options, async () => {
      const report = await verifyEvidence(dir);
      return {
        exitCode: report.ok ? EXIT.done : EXIT.verdictFailed,
        document: report,
        text: (table) => renderEvidence(report, { ...table, reasons: options.reasons }),
      };
    }),
  );
}
