import { CriuError } from "@drums/criu";
import { codeOf, DrumsError, EXIT, type ExitCode, messageOf } from "../errors.js";
import { type Paint, printable } from "./style.js";

/** An error as plain data: what, where, why, what to do. */
export interface ErrorDocument {
  readonly code: string;
  readonly what: string;
  readonly where?: string;
  readonly why?: string;
  readonly hint?: string;
  /** The lines of a log that tell of it, and the log's path. */
  readonly log?: { readonly file: string; readonly lines: readonly string[] };
}

/** The parts of whatever was thrown: an error of ours, of another package of ours (code and hint), or a bug. */
export function errorDocument(thrown: unknown): ErrorDocument {
  if (thrown instanceof DrumsError) {
    const { code, what, where, why, hint } = thrown;
    return { code, what, ...(where && { where }), ...(why && { why }), ...(hint && { hint }) };
  }
  const code = codeOf(thrown) ?? "UNEXPECTED";
  const hint = stringField(thrown, "hint");
  const where = stringField(thrown, "path");
  const log = thrown instanceof CriuError ? thrown.log : undefined;
  return {
    code,
    what: messageOf(thrown),
    ...(where && { where }),
    ...(hint && { hint }),
    ...(log && { log }),
  };
}

/** The exit status that an error asks for; a fault of ours where it asks for none. */
export function exitCodeOf(thrown: unknown): ExitCode {
  return thrown instanceof DrumsError ? thrown.exitCode : EXIT.fault;
}

/** An error for people, on as many lines as it has parts. The stack is shown for bugs, or with DRUMS_DEBUG set. */
export function renderError(thrown: unknown, paint: Paint, env: NodeJS.ProcessEnv = process.env): string {
  const { code, what, where, why, hint, log } = errorDocument(thrown);
  const isBug = code === "UNEXPECTED" || Boolean(env.DRUMS_DEBUG);
  const stack = isBug && thrown instanceof Error ? thrown.stack?.split("\n").slice(1) : undefined;
  return [
    `${paint("red", "drums:")} ${printable(what)} ${paint("dim", `[${code}]`)}`,
    ...(where ? [`  where:  ${printable(where)}`] : []),
    ...(why ? [`  why:    ${printable(why)}`] : []),
    ...(hint ? [`  to do:  ${printable(hint)}`] : []),
    ...(log?.lines ?? []).map((line) => `  log:    ${printable(line)}`),
    ...(stack ?? []),
    "",
  ].join("\n");
}

function stringField(thrown: unknown, name: string): string | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const value: unknown = Reflect.get(thrown, name);
  return typeof value === "string" ? value : undefined;
}
