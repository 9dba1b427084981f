import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { decodePng, type Frame } from "@drums/readiness";
import type { z } from "zod";
import { type DocumentFormat, type DocumentVerdict, judgeDocument } from "../documents/judge.js";
import { codeOf, messageOf } from "../errors.js";
import { parseJsonRecord } from "../home.js";
import { EVENTS, parseEvents, type StepEvent } from "./events.js";
import { listContent } from "./manifest.js";
import {
  type Beside,
  DOCUMENT,
  type FixedRecordName,
  type FixedValue,
  folderOf,
  RECORDS,
  type RecordName,
  SCREENS,
  type ScreenName,
  SIBLING_RECORDS,
  SIBLING_SCREENS,
  type SiblingRecordName,
  type SiblingScreenName,
  type SiblingValue,
  TEXTS,
  type TextName,
} from "./records.js";

/** A record that a claim wanted and could not have. */
export class RecordAbsent extends Error {
  override readonly name = "RecordAbsent";
  constructor(
    readonly record: string,
    /** Absent because it is there but cannot be read: a contradiction, not a thing never reached. */
    readonly isUnreadable: boolean,
    reason: string,
  ) {
    super(reason);
  }
}

/** The records of one attempt, read once. Getters throw RecordAbsent. */
export interface AttemptRecords {
  /** 1 … N by run.json; empty where there is none. */
  readonly siblings: readonly number[];
  /** In the order of events.jsonl. */
  readonly events: readonly StepEvent[];
  /** Lines of events.jsonl that are no events, or that it is missing. */
  readonly eventFaults: readonly string[];
  get<N extends FixedRecordName>(name: N): FixedValue<N>;
  ofSibling<N extends SiblingRecordName>(sibling: Beside, name: N): SiblingValue<N>;
  text(name: TextName): string;
  screen(name: ScreenName): Frame;
  siblingScreen(sibling: Beside, name: SiblingScreenName): Frame;
  /** A document as it was judged when the records were read. */
  document(sibling: Beside, format: DocumentFormat): JudgedDocument;
}

/** A document of an attempt, judged from its bytes. */
export interface JudgedDocument extends DocumentVerdict {
  readonly sha256: string;
}

type Loaded = { readonly value: unknown } | { readonly absent: RecordAbsent };

/**
 * Reads every record of an attempt that claims may want. Never throws for one that is missing or broken:
 * asking for it does.
 */
export async function loadRecords(folder: string): Promise<AttemptRecords> {
  const found = new Map<string, Loaded>();
  const { files } = await listContent(folder);
  for (const path of files) {
    const read = readerOf(path);
    if (read !== undefined) found.set(path, await load(folder, path, read));
  }
  const log = found.get(EVENTS);
  const { events, faults } =
    log && "value" in log ? parseEvents(String(log.value)) : { events: [], faults: [`${EVENTS} is missing`] };
  return { ...gettersOf(found), events, eventFaults: faults };
}

function gettersOf(found: ReadonlyMap<string, Loaded>): Omit<AttemptRecords, "events" | "eventFaults"> {
  // The reader of a path decides the type of its value, so the name's type is the value's.
  const take = <T>(path: string): T => {
    const loaded = found.get(path) ?? { absent: new RecordAbsent(path, false, `${path} is missing`) };
    if ("absent" in loaded) throw loaded.absent;
    return loaded.value as T;
  };
  const run = found.get("run.json");
  const count = run && "value" in run ? (run.value as FixedValue<"run.json">).siblings : 0;
  return {
    siblings: Array.from({ length: count }, (_, index) => index + 1),
    get: (name) => take(name),
    ofSibling: (sibling, name) => take(`${folderOf(sibling)}/${name}`),
    text: (name) => take(name),
    screen: (name) => take(name),
    siblingScreen: (sibling, name) => take(`${folderOf(sibling)}/${name}`),
    document: (sibling, format) => take(documentPath(sibling, format)),
  };
}

/** Where a document of a session lies in an attempt. */
export function documentPath(sibling: Beside, format: DocumentFormat): string {
  return `${folderOf(sibling)}/document.${format}`;
}

type Reader = (content: Buffer, path: string) => unknown;

/** How a path of an attempt is read, or undefined where no claim wants it. */
function readerOf(path: string): Reader | undefined {
  const ofSibling = /^(?:siblings\/\d+|second|twin)\/(.+)$/.exec(path)?.[1];
  const format = DOCUMENT.exec(ofSibling ?? "")?.[1];
  if (format !== undefined) return (content) => judgedDocument(content, format as DocumentFormat);
  if (path === EVENTS || includes(TEXTS, path)) return (content) => content.toString("utf8");
  if (includes(SCREENS, path) || includes(SIBLING_SCREENS, ofSibling)) return decodePng;
  const schema = schemaOf(RECORDS, path) ?? schemaOf(SIBLING_RECORDS, ofSibling);
  return schema && ((content) => parseJsonRecord(content.toString("utf8"), schema, path));
}

async function judgedDocument(content: Buffer, format: DocumentFormat): Promise<JudgedDocument> {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { ...(await judgeDocument(content, format)), sha256 };
}

async function load(folder: string, path: string, read: Reader): Promise<Loaded> {
  try {
    return { value: await read(await readFile(join(folder, path)), path) };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return { absent: new RecordAbsent(path, false, `${path} is missing`) };
    return { absent: new RecordAbsent(path, true, `${path} cannot be read: ${messageOf(error)}`) };
  }
}

function includes(names: readonly string[], name: string | undefined): boolean {
  return name !== undefined && names.includes(name);
}

function schemaOf(
  schemas: Readonly<Record<string, z.ZodType>>,
  name: string | undefined,
): z.ZodType | undefined {
  return name !== undefined && Object.hasOwn(schemas, name) ? schemas[name] : undefined;
}

/** Wraps records so that every name that is asked for is told; a claim's provenance comes from it. */
export function watchReads(records: AttemptRecords, onRead: (path: string) => void): AttemptRecords {
  const told = <T>(path: string, take: () => T): T => {
    onRead(path);
    return take();
  };
  return {
    ...records,
    get: (name) => told(name, () => records.get(name)),
    ofSibling: (sibling, name) =>
      told(`${folderOf(sibling)}/${name}` satisfies RecordName, () => records.ofSibling(sibling, name)),
    text: (name) => told(name, () => records.text(name)),
    screen: (name) => told(name, () => records.screen(name)),
    siblingScreen: (sibling, name) =>
      told(`${folderOf(sibling)}/${name}`, () => records.siblingScreen(sibling, name)),
    document: (sibling, format) =>
      told(documentPath(sibling, format), () => records.document(sibling, format)),
  };
}
