import { delimiter } from "node:path";
import { ExecaError, execa } from "execa";
import { codeOf, DrumsError, EXIT } from "../errors.js";

export interface RunOptions {
  /** Ends the program with SIGKILL when aborted; default none. */
  readonly signal?: AbortSignal | undefined;
  /** Told each line of stderr as it comes; default ignored. */
  readonly onLine?: (line: string) => void;
  /** Default `/`. */
  readonly cwd?: string;
  /** Added to the environment; LC_ALL is C. */
  readonly env?: Readonly<Record<string, string>>;
}

const TAIL_LINES = 12;

/** Where mke2fs and chroot live; an ordinary user's PATH, kept by `su`, goes without. */
const SYSTEM_FOLDERS = ["/usr/sbin", "/sbin"];

/**
 * Runs a host program to its end, without a shell.
 * @throws DrumsError PROGRAM_MISSING (a blocker), PROGRAM_FAILED (with the last lines it wrote),
 *   INTERRUPTED where the signal was aborted
 */
export async function runHostProgram(
  argv: readonly [string, ...string[]],
  { signal, onLine, cwd = "/", env = {} }: RunOptions = {},
): Promise<{ stdout: string }> {
  const [program, ...args] = argv;
  try {
    const running = execa(program, args, {
      cwd,
      env: { PATH: systemPath(), LC_ALL: "C", ...env },
      stdin: "ignore",
      ...(signal !== undefined && { cancelSignal: signal }),
      killSignal: "SIGKILL",
    });
    if (onLine !== undefined) for await (const line of running.iterable({ from: "stderr" })) onLine(line);
    const { stdout } = await running;
    return { stdout };
  } catch (error) {
    throw failure(program, error, signal?.aborted === true);
  }
}

function systemPath(): string {
  return [process.env.PATH ?? "/usr/bin:/bin", ...SYSTEM_FOLDERS].join(delimiter);
}

/** Ctrl-C reaches the whole process group: the program may end of it before it is cancelled from here. */
function failure(program: string, error: unknown, isAborted: boolean): unknown {
  if (!(error instanceof ExecaError)) return error;
  if (error.isCanceled || isAborted)
    return new DrumsError({ code: "INTERRUPTED", what: `${program} was interrupted`, cause: error });
  if (codeOf(error) === "ENOENT")
    return new DrumsError({
      code: "PROGRAM_MISSING",
      exitCode: EXIT.blocker,
      what: `${program} is not on PATH`,
      hint: "`drums preflight` names the package that brings it",
      cause: error,
    });
  const written = `${error.stderr ?? ""}`.trim() || error.shortMessage;
  return new DrumsError({
    code: "PROGRAM_FAILED",
    what: `${program} failed with ${error.signal ?? `status ${error.exitCode}`}`,
    why: written.split("\n").slice(-TAIL_LINES).join("\n"),
    cause: error,
  });
}
