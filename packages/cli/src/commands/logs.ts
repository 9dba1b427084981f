import type { Command } from "commander";
import { openSession } from "../session/open.js";
import { INSIDE } from "../session/paths.js";
import { findSession } from "../session/store.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

/** A session may write without end; of each log the last part is shown. */
const MAX_LOG_BYTES = 64 * 1024;

/** `drums logs S`: what the bus, the X server and the desktop's programs wrote. */
export function registerLogs(program: Command, context: CommandContext): void {
  const command = program
    .command("logs")
    .description("print the logs of a session's bus, X server and programs")
    .argument("<session>")
    .argument("[name]", "one log alone, such as xserver");
  withCommonOptions(command).action((session: string, name: string | undefined, flags: CommonOptions) =>
    context.run(flags, async ({ home }) => {
      const live = await openSession(await (await findSession(home, session)).read());
      try {
        const files = (await live.root.list(INSIDE.logs)).filter((file) => file.endsWith(".log")).sort();
        const wanted = name === undefined ? files : files.filter((file) => file === `${name}.log`);
        const logs: Record<string, string> = {};
        for (const file of wanted) {
          const text = await live.root.readFile(`${INSIDE.logs}/${file}`, {
            maxBytes: MAX_LOG_BYTES,
            larger: "tail",
          });
          logs[file.slice(0, -".log".length)] = text.toString();
        }
        const parts = Object.entries(logs).map(([log, text]) => `== ${log}\n${text}`);
        return { document: { session: live.record.id, logs }, text: parts.join("\n") };
      } finally {
        live.close();
      }
    }),
  );
}
