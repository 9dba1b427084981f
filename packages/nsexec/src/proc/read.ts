import { readFile } from "node:fs/promises";
import { NsexecError } from "../errors.js";

/** Where the /proc to read is mounted. */
export interface ProcOptions {
  /** Default "/proc". */
  readonly proc?: string;
}

/** A process by its pid in the namespace of the /proc that is read. */
export type Pid = number | "self";

/** Reads /proc/PID/FILE. Throws Node's own error: ENOENT or ESRCH where the process is gone. */
export function readProcFile(pid: Pid, file: string, options: ProcOptions = {}): Promise<string> {
  return readFile(`${options.proc ?? "/proc"}/${pid}/${file}`, "utf8");
}

/** Whether an error says that the process ended before or while it was read. */
export function isGone(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "ENOENT" || code === "ESRCH";
}

/** What a parser throws at text that the kernel would not have written. */
export function malformed(file: string, line: string): NsexecError {
  return new NsexecError(
    "PROC_FORMAT",
    `not a line of /proc/PID/${file}: ${JSON.stringify(line.slice(0, 200))}`,
    {
      hint: "The text does not come from the kernel, or was cut; read it again.",
    },
  );
}

/** A whole decimal number, or the format error of its line. */
export function toInteger(text: string | undefined, file: string, line: string): number {
  if (text === undefined || !/^-?\d+$/.test(text)) throw malformed(file, line);
  return Number(text);
}

/** The lines of a text without the empty one after the last newline. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
