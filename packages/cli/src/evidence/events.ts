import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { jsonLine } from "../json.js";

/** Name of the append-only log of an attempt's steps. */
export const EVENTS = "events.jsonl";

/** How a step ended. An interrupted step is one that a signal or an abort cut off: it says nothing of its subject. */
export const stepOutcomeSchema = z.enum(["ok", "failed", "interrupted"]);
export type StepOutcome = z.infer<typeof stepOutcomeSchema>;

const errorSchema = z.object({
  message: z.string(),
  code: z.string().optional(),
  hint: z.string().optional(),
});

/** One line of events.jsonl: a step began or ended. Times: CLOCK_MONOTONIC in ms, and the wall clock beside it. */
export const stepEventSchema = z.discriminatedUnion("event", [
  z.object({
    version: z.literal(1),
    event: z.literal("start"),
    step: z.string(),
    monotonicMs: z.number(),
    at: z.iso.datetime(),
  }),
  z.object({
    version: z.literal(1),
    event: z.literal("end"),
    step: z.string(),
    monotonicMs: z.number(),
    at: z.iso.datetime(),
    durationMs: z.number().min(0),
    outcome: stepOutcomeSchema,
    error: errorSchema.optional(),
  }),
]);
export type StepEvent = z.infer<typeof stepEventSchema>;

/** Appends events in the order of the calls, each flushed to disk before its promise resolves. */
export interface EventLog {
  append(event: StepEvent): Promise<void>;
  close(): Promise<void>;
}

/** Opens a new log in an attempt's folder. It must not exist yet. */
export async function openEventLog(folder: string): Promise<EventLog> {
  // "ax": append and O_EXCL; an attempt's log is nobody else's.
  const file = await open(join(folder, EVENTS), "ax", 0o644);
  let last: Promise<void> = Promise.resolve();
  const append = (event: StepEvent): Promise<void> => {
    const mine = last.then(() => appendLine(file, jsonLine(event)));
    last = mine.catch(() => {});
    return mine;
  };
  return {
    append,
    close: async () => {
      await last;
      await file.close();
    },
  };
}

async function appendLine(file: FileHandle, line: string): Promise<void> {
  await file.appendFile(line);
  await file.datasync();
}

/** Parses an events.jsonl; a line that is not an event is named by its number. */
export function parseEvents(text: string): { events: StepEvent[]; faults: string[] } {
  const events: StepEvent[] = [];
  const faults: string[] = [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (const [index, line] of lines.entries()) {
    const event = parseLine(line);
    if (event === undefined) faults.push(`${EVENTS} line ${index + 1} is not an event`);
    else events.push(event);
  }
  return { events, faults };
}

function parseLine(line: string): StepEvent | undefined {
  try {
    return stepEventSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
