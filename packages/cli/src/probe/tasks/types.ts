import type { Frame } from "@drums/readiness";
import type { DocumentFormat } from "../../documents/judge.js";
import type { ApplicationRecipe } from "../../recipes/types.js";
import type { LiveSession } from "../../session/open.js";

/** A document that was saved by keyboard, as it was read from outside. */
export interface SavedDocument {
  readonly format: DocumentFormat;
  /** In the session. */
  readonly path: string;
  readonly bytes: Buffer;
}

/** What is typed into one session. */
export interface Work {
  readonly sentence: string;
  /** Part of the names of files that are saved: no two works of one session share it. */
  readonly label: string;
}

/** What typing came to. */
export interface Done {
  /** What is read from outside afterwards. */
  readonly content: string | null;
  /** The screen with the sentence on it. */
  readonly frame: Frame;
  readonly documents: readonly SavedDocument[];
}

/** What a probe does in an application to show that each sibling goes on from the dump, alone. */
export interface ProbeTask {
  /** Where the effect of a work is read: a path in the session, or the window's title. */
  place(label: string): string;
  /** What is read there now; null where there is nothing. */
  read(live: LiveSession, label: string): Promise<string | null>;
  /** The sentence of one session; what it remembers of the token is part of it where the application can put it in. */
  sentence(who: string, token: string): string;
  /**
   * Types into the fresh application what siblings must remember, before the dump. Gives the beginning of what is read
   * after their works.
   */
  prepare(live: LiveSession, token: string): Promise<string>;
  perform(live: LiveSession, work: Work): Promise<Done>;
  /** Between what was there and what a work adds. */
  readonly separator: string;
  /** A file that the application keeps a lock on after `prepare`. */
  readonly lockedPath?: string;
}

/** Makes the task of an application. */
export type MakeTask = (application: ApplicationRecipe) => ProbeTask;
