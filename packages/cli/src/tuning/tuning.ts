import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { DrumsError, EXIT, messageOf } from "../errors.js";
import { type Home, readJsonFile, writeJsonFile } from "../home.js";
import { withLock } from "../lock.js";
import { identify, identitySchema, isAlive, type ProcessIdentity } from "../session/identity.js";
import { hasKnob, KNOBS, readKnob, type SysOptions, type TuningKind, writeKnob } from "./knobs.js";

const kindSchema = z.enum(Object.keys(KNOBS) as [TuningKind, ...TuningKind[]]);

/** What was turned, and for whom. The last living holder, or a collection after its death, puts all back. */
const recordSchema = z.object({
  version: z.literal(1),
  holders: z.array(identitySchema.extend({ kinds: z.array(kindSchema) })),
  knobs: z.array(z.object({ kind: kindSchema, file: z.string(), before: z.string(), set: z.string() })),
});

type TuningRecord = z.infer<typeof recordSchema>;

const LOCK = "host-tuning";

/**
 * Turns knobs of the whole machine while `body` runs, and puts them back when nobody of this home needs them any more.
 * Each is written down before it is turned, so that {@link collectTuning} puts back what a killed process left. A knob
 * that this kernel does not have is passed over.
 * @throws DrumsError TUNING_FAILED where one cannot be turned; those before it are back then
 */
export async function withHostTuning<T>(
  home: Home,
  kinds: readonly TuningKind[],
  body: () => Promise<T>,
  options: SysOptions = {},
): Promise<T> {
  const holder = await identify(process.pid);
  await withLock(home, LOCK, () => hold(home, holder, kinds, options));
  try {
    return await body();
  } finally {
    await withLock(home, LOCK, () => letGo(home, holder, kinds, options));
  }
}

/** Puts back what killed processes left turned; gives the files of the knobs. Does nothing while a holder lives. */
export async function collectTuning(home: Home, options: SysOptions = {}): Promise<string[]> {
  if (!existsSync(recordFile(home))) return [];
  return withLock(home, LOCK, () => letGo(home, undefined, [], options));
}

async function hold(
  home: Home,
  holder: ProcessIdentity,
  kinds: readonly TuningKind[],
  options: SysOptions,
): Promise<void> {
  const found = await readRecord(home);
  let record: TuningRecord = {
    ...found,
    holders: [...found.holders, { ...holder, kinds: [...kinds] }],
  };
  try {
    for (const { kind, file, value } of knobsOf(kinds)) {
      if (record.knobs.some((knob) => knob.file === file) || !(await hasKnob(file, options))) continue;
      const before = await readKnob(file, options);
      record = { ...record, knobs: [...record.knobs, { kind, file, before, set: value }] };
      await writeJsonFile(recordFile(home), record);
      await writeKnob({ file, value }, options);
    }
    await writeJsonFile(recordFile(home), record);
  } catch (cause) {
    await writeJsonFile(recordFile(home), record);
    await letGo(home, holder, kinds, options);
    throw failed(cause);
  }
}

/** Takes one hold of a process away, and those of the dead; puts back the knobs that nobody living holds. */
async function letGo(
  home: Home,
  leaving: ProcessIdentity | undefined,
  kinds: readonly TuningKind[],
  options: SysOptions,
): Promise<string[]> {
  const record = await readRecord(home);
  const own = record.holders.findIndex(
    (one) =>
      one.pid === leaving?.pid && one.startTime === leaving.startTime && one.kinds.join() === kinds.join(),
  );
  const holders: TuningRecord["holders"] = [];
  for (const [index, holder] of record.holders.entries())
    if (index !== own && (await isAlive(holder))) holders.push(holder);
  const isHeld = ({ kind }: TuningRecord["knobs"][number]) => holders.some((one) => one.kinds.includes(kind));
  const back: string[] = [];
  for (const { file, before, set } of record.knobs.filter((knob) => !isHeld(knob)).reverse()) {
    // What somebody else has turned since is theirs.
    if ((await readKnob(file, options)) !== set) continue;
    await writeKnob({ file, value: before }, options);
    back.push(file);
  }
  if (holders.length === 0) await rm(recordFile(home), { force: true });
  else await writeJsonFile(recordFile(home), { ...record, holders, knobs: record.knobs.filter(isHeld) });
  return back;
}

function knobsOf(kinds: readonly TuningKind[]) {
  return kinds.flatMap((kind) => KNOBS[kind].map((knob) => ({ kind, ...knob })));
}

async function readRecord(home: Home): Promise<TuningRecord> {
  if (!existsSync(recordFile(home))) return { version: 1, holders: [], knobs: [] };
  return readJsonFile(recordFile(home), recordSchema);
}

function recordFile(home: Home): string {
  return join(home.path, "host-tuning.json");
}

function failed(cause: unknown): DrumsError {
  return new DrumsError({
    code: "TUNING_FAILED",
    exitCode: EXIT.blocker,
    what: "the machine could not be tuned",
    why: messageOf(cause),
    hint: "run as root where /sys/kernel/mm can be written to, or without --host-tuning",
    cause,
  });
}
