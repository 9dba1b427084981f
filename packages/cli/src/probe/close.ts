import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { contactSheet, decodePng, encodePng, type LabelledFrame } from "@drums/readiness";
import { codeOf } from "../errors.js";
import { type Outcome, sealAttempt } from "../evidence/seal.js";
import type { Attempt } from "../evidence/writer.js";

/** What a probe came to. */
export interface ProbeOutcome extends Outcome {
  /** The attempt's folder. */
  readonly evidence: string;
  readonly attempt: number;
  /** One picture of all screens; absent where there was none to show. */
  readonly sheet: string | undefined;
  /** What ended the course or its takedown; empty where all went its way. */
  readonly failures: readonly unknown[];
}

/** Draws the picture sheet, computes the claims from the records as they lie on disk, and seals the attempt. */
export async function closeAttempt(
  attempt: Attempt,
  { siblings, failures }: { readonly siblings: number; readonly failures: readonly unknown[] },
): Promise<ProbeOutcome> {
  const sheet = await drawSheet(attempt, siblings);
  const outcome = await sealAttempt(attempt);
  return { ...outcome, evidence: attempt.path, attempt: attempt.number, sheet, failures };
}

async function drawSheet(attempt: Attempt, siblings: number): Promise<string | undefined> {
  const numbers = Array.from({ length: siblings }, (_, index) => index + 1);
  const wanted = [
    { name: "screens/reference.png", label: "before the dump" },
    ...numbers.map((number) => ({ name: `siblings/${number}/screen-typed.png`, label: `sibling ${number}` })),
    { name: "second/screen-typed.png", label: "sibling 1's own sibling" },
    { name: "original/screen.png", label: "the original, afterwards" },
  ];
  const frames: LabelledFrame[] = [];
  for (const { name, label } of wanted) {
    const png = await readIfThere(join(attempt.path, name));
    if (png !== undefined) frames.push({ frame: await decodePng(png), label });
  }
  if (frames.length === 0) return undefined;
  await attempt.file("sheet.png", await encodePng(contactSheet(frames)));
  return join(attempt.path, "sheet.png");
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
