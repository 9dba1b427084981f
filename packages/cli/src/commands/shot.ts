import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { encodePng } from "@drums/readiness";
import type { Command } from "commander";
import { openSession } from "../session/open.js";
import { findSession } from "../session/store.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

/** `drums shot S`: the screen as a PNG, cursor included. */
export function registerShot(program: Command, context: CommandContext): void {
  const command = program
    .command("shot")
    .description("write a session's screen as a PNG file")
    .argument("<session>")
    .option("--out <file>", "default: SESSION.png in this folder");
  withCommonOptions(command).action((name: string, flags: CommonOptions & { readonly out?: string }) =>
    context.run(flags, async ({ home }) => {
      const folder = await findSession(home, name);
      const live = await openSession(await folder.read());
      try {
        const frame = await live.frame();
        const path = resolve(flags.out ?? `${folder.id}.png`);
        await writeFile(path, await encodePng(frame));
        return { document: { path, width: frame.width, height: frame.height }, text: `${path}\n` };
      } finally {
        live.close();
      }
    }),
  );
}
