import { spawn } from "node:child_process";
import type { Command } from "commander";
import { EXIT, type ExitCode, isAbort } from "../errors.js";
import { findHome, type Home } from "../home.js";
import { interruptedStatus } from "../interrupt.js";
import { jsonText } from "../json.js";
import type { TableOptions } from "../render/claims.js";
import { errorDocument, exitCodeOf, renderError } from "../render/error.js";
import { type Progress, progressOn } from "../render/progress.js";
import { type Output, paintFor, widthOf } from "../render/style.js";

/** What a command came to. */
export interface CommandResult {
  /** Default 0. */
  readonly exitCode?: ExitCode;
  /** The one document of `--json`. */
  readonly document: unknown;
  /** What a person reads instead, ending with a newline; a function gets the terminal's width and colours. */
  readonly text: string | ((table: TableOptions) => string);
}

/** What a command has while it runs. */
export interface Invocation {
  /** Aborted by SIGINT or SIGTERM: stop, take down what was started, throw. */
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** DRUMS_HOME, or what `--home` names. Its folders are made by `createHome`. */
  readonly home: Home;
  readonly isJson: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Starts another command in this home that outlives this one. */
  inBackground(argv: readonly string[]): void;
}

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: boolean;
  readonly home?: string;
}

/** The surroundings of a program run, for commands to register with. */
export interface CommandContext {
  /** Runs a command's body, prints its result or its error, and keeps the exit status. Never rejects. */
  run(options: CommonOptions, body: (invocation: Invocation) => Promise<CommandResult>): Promise<void>;
}

/** What a context is made from; tests give their own. */
export interface ContextFacts {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly signal: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  /** The script that runs commands, for those that go on in the background. Default: none do. */
  readonly script?: string;
}

/** Makes a context. `exitCode()` is the status of what ran last. */
export function createContext(facts: ContextFacts): CommandContext & { exitCode(): number } {
  const { stdout, stderr, signal, env, script } = facts;
  let status: number = EXIT.done;
  return {
    exitCode: () => status,
    run: async (options, body) => {
      const isJson = options.json === true;
      const progress = progressOn(stderr, { env });
      try {
        const home = findHome({ home: options.home, env });
        const result = await body({
          ...{ signal, progress, home, isJson, env },
          inBackground: (argv) => startDetached(script, [...argv, "--home", home.path], env),
        });
        progress.close();
        stdout.write(isJson ? jsonText(result.document) : textOf(result, stdout, env));
        status = result.exitCode ?? EXIT.done;
      } catch (thrown) {
        progress.close();
        const interrupted = isAbort(thrown) ? interruptedStatus(signal) : undefined;
        status = interrupted ?? exitCodeOf(thrown);
        if (isJson) stdout.write(jsonText({ error: errorDocument(thrown) }));
        stderr.write(renderError(thrown, paintFor(stderr, env), env));
      }
    },
  };
}

/** Adds the options that every command has. */
export function withCommonOptions(command: Command): Command {
  return command
    .option("--json", "one JSON document on stdout; progress stays on stderr")
    .option("--home <dir>", "where drums keeps its things (default: DRUMS_HOME, or /var/lib/drums)");
}

function startDetached(script: string | undefined, argv: readonly string[], env: NodeJS.ProcessEnv): void {
  if (script === undefined) return;
  spawn(process.execPath, [script, ...argv], { detached: true, stdio: "ignore", cwd: "/", env }).unref();
}

function textOf({ text }: CommandResult, stdout: Output, env: NodeJS.ProcessEnv): string {
  if (typeof text === "string") return text;
  return text({ width: widthOf(stdout), paint: paintFor(stdout, env) });
}
