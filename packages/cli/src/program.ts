import { Command, CommanderError } from "commander";
import { type ContextFacts, createContext } from "./commands/_context.js";
import { COMMANDS } from "./commands/index.js";
import { EXIT } from "./errors.js";
import { VERSION } from "./version.js";

const DESCRIPTION =
  "Full Linux desktops from a disk image without a virtual machine, frozen and forked in a fraction of a second.";

const AFTER_HELP = `
Exit status: 0 done, 1 a verdict failed, 2 usage, 3 a preflight blocker, 4 a fault of ours;
130 or 143 when a signal ended it. DRUMS_HOME names the folder of sessions, checkpoints and evidence.`;

/**
 * Runs the command line and gives its exit status. Never rejects and never ends the process.
 * @param argv  without node and the script
 */
export async function runProgram(argv: readonly string[], facts: ContextFacts): Promise<number> {
  const context = createContext(facts);
  const program = new Command("drums")
    .description(DESCRIPTION)
    .version(VERSION)
    .addHelpText("after", AFTER_HELP)
    .showHelpAfterError("(drums --help, or drums COMMAND --help, says what there is)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => facts.stdout.write(text),
      writeErr: (text) => facts.stderr.write(text),
    });
  for (const register of COMMANDS) register(program, context);
  try {
    await program.parseAsync(argv, { from: "user" });
    return context.exitCode();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and --version come as errors with status 0; every other one is a fault of usage.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}
