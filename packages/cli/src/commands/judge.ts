import { readFile } from "node:fs/promises";
import {
  type BusFacts,
  type DesktopFacts,
  decodePng,
  defaultRules,
  fieldRecordRules,
  gnomeRules,
  judge,
  type Verdict,
} from "@drums/readiness";
import { type Command, Option } from "commander";
import { EXIT } from "../errors.js";
import { RECORDS } from "../evidence/records.js";
import { readJsonFile } from "../home.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

const RULES = { default: defaultRules, gnome: gnomeRules, "field-record": fieldRecordRules } as const;

interface JudgeFlags extends CommonOptions {
  readonly facts?: string;
  readonly shell?: string;
  readonly rules: keyof typeof RULES;
}

/** `drums judge PNG`: the readiness verdict on a capture. */
export function registerJudge(program: Command, context: CommandContext): void {
  const command = program
    .command("judge")
    .description("say whether a capture shows a usable desktop, and why not; exit status 1 where it does not")
    .argument("<png>")
    .option("--facts <file>", "window facts of the same moment: a facts.json of evidence")
    .option("--shell <file>", "what GNOME said on its bus at the same moment: a shell.json of evidence")
    .addOption(new Option("--rules <name>", "by which rules").choices(Object.keys(RULES)).default("default"));
  withCommonOptions(command).action((png: string, flags: JudgeFlags) =>
    context.run(flags, async () => {
      const frame = await decodePng(await readFile(png));
      const facts = flags.facts === undefined ? undefined : await readFacts(flags.facts);
      const bus = flags.shell === undefined ? undefined : await readShell(flags.shell);
      const rules = RULES[flags.rules]();
      const verdict = judge({ frames: [frame], rules, ...(facts && { facts }), ...(bus && { bus }) });
      return {
        exitCode: verdict.ready ? EXIT.done : EXIT.verdictFailed,
        document: verdict,
        text: verdictText(verdict),
      };
    }),
  );
}

async function readFacts(file: string): Promise<DesktopFacts> {
  return (await readJsonFile(file, RECORDS["facts.json"])).facts;
}

async function readShell(file: string): Promise<BusFacts> {
  return (await readJsonFile(file, RECORDS["shell.json"])).bus;
}

function verdictText({ name, reasons }: Verdict): string {
  return `${name}\n${reasons.map((reason) => `  ${reason}\n`).join("")}`;
}
