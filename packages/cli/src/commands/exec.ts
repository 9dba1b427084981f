import type { Command } from "commander";
import { DrumsError, EXIT, type ExitCode } from "../errors.js";
import { openSession } from "../session/open.js";
import { USER } from "../session/paths.js";
import { findSession } from "../session/store.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { countOption } from "./_options.js";

interface ExecFlags extends CommonOptions {
  readonly root?: boolean;
  readonly timeout: number;
}

/** `drums exec S -- PROGRAM`: a program started by the session's init, as its user; it is part of a checkpoint. */
export function registerExec(program: Command, context: CommandContext): void {
  const command = program
    .command("exec")
    .description("run a program in a session, by its init, and print what it printed")
    .argument("<session>")
    .argument("<program...>", "the program and its arguments, behind --")
    .option("--root", "as the session's root instead of its user")
    .option("--timeout <seconds>", "how long it may take", countOption, 60);
  withCommonOptions(command).action((name: string, argv: string[], flags: ExecFlags) =>
    context.run(flags, async ({ home }) => {
      const live = await openSession(await (await findSession(home, name)).read());
      try {
        const done = await live.withInit((init) =>
          init.run({
            argv: ["/usr/bin/env", ...argv],
            ...identityOf(flags),
            timeoutMs: flags.timeout * 1000,
          }),
        );
        const [stdout, stderr] = [done.stdout.toString(), done.stderr.toString()];
        return {
          exitCode: exitOf(done),
          document: { argv, code: done.code ?? null, signal: done.signal ?? null, stdout, stderr },
          text: `${stdout}${stderr}`,
        };
      } finally {
        live.close();
      }
    }),
  );
}

function identityOf({ root = false }: ExecFlags) {
  const path = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };
  if (root) return { uid: 0, gid: 0, cwd: "/root", env: { ...path, HOME: "/root", USER: "root" } };
  const { uid, gid, home: cwd, name } = USER;
  return {
    uid,
    gid,
    cwd,
    env: { ...path, HOME: cwd, USER: name, LOGNAME: name, DISPLAY: ":0", LANG: "C.UTF-8" },
  };
}

/** A program that failed is a verdict, not a fault of ours; its own status is in the document. */
function exitOf({ code, signal }: { readonly code?: number; readonly signal?: string }): ExitCode {
  if (code === 0) return EXIT.done;
  if (code !== undefined || signal !== undefined) return EXIT.verdictFailed;
  throw new DrumsError({ code: "NO_STATUS", what: "the program's status was not told" });
}
