import { encodePng } from "@drums/readiness";
import { messageOf } from "../errors.js";
import type { Attempt } from "../evidence/writer.js";
import type { Home } from "../home.js";
import type { LiveSession } from "../session/open.js";
import { INSIDE } from "../session/paths.js";
import { removeSession } from "../session/remove.js";
import type { SessionFolder } from "../session/store.js";

/** A session that a course brought up, and where its part of the evidence lies. */
export interface HeldSession {
  readonly live: LiveSession;
  readonly folder: SessionFolder;
  /** Folder of the attempt for its logs. */
  readonly evidence: string;
}

/** The sessions of a course, to be taken down whatever was reached. */
export class Sessions {
  readonly #home: Home;
  readonly #attempt: Attempt;
  readonly #held: HeldSession[] = [];
  /** Of all that were ever begun, for the search for what is left. */
  readonly ids: string[] = [];

  constructor(home: Home, attempt: Attempt) {
    this.#home = home;
    this.#attempt = attempt;
  }

  hold<T extends HeldSession>(session: T): T {
    this.#held.push(session);
    return session;
  }

  /** Takes one down in the middle of a course. */
  async end(session: HeldSession): Promise<void> {
    this.#held.splice(this.#held.indexOf(session), 1);
    await this.#remove(session);
  }

  /** Takes all down, the last first, and gives what went wrong. */
  async endAll(): Promise<string[]> {
    const faults: string[] = [];
    for (const session of this.#held.splice(0).reverse())
      await this.#remove(session).catch((error: unknown) => faults.push(messageOf(error)));
    return faults;
  }

  /** The logs of a session's programs, kept before its folder goes. One that cannot be read is not there. */
  async keepLogs({ root }: LiveSession, evidence: string): Promise<void> {
    const names = await root.list(INSIDE.logs).catch(() => []);
    for (const name of names.filter((one) => /^[\w.-]+\.log$/.test(one))) {
      const log = await root.readFile(`${INSIDE.logs}/${name}`, { larger: "tail" }).catch(() => undefined);
      if (log !== undefined) await this.#attempt.file(`${evidence}/logs/${name}`, log);
    }
  }

  /** What was on the screen when it ended tells why a wait was in vain. */
  async #keepScreen(live: LiveSession, evidence: string): Promise<void> {
    const frame = await live.frame().catch(() => undefined);
    if (frame !== undefined) await this.#attempt.file(`${evidence}/screen-end.png`, await encodePng(frame));
  }

  async #remove({ live, folder, evidence }: HeldSession): Promise<void> {
    await this.keepLogs(live, evidence);
    await this.#keepScreen(live, evidence);
    live.close();
    await removeSession(this.#home, folder);
  }
}
