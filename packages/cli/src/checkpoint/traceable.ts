import { openSession } from "../session/open.js";
import type { SessionRecord } from "../session/record.js";

/**
 * Runs with the session's init open to a look from within its user namespace, which CRIU checks before a dump; at other
 * times the session's root can neither trace it nor read its memory.
 */
export async function whileTraceable<T>(session: SessionRecord, body: () => Promise<T>): Promise<T> {
  await setTraceable(session, true);
  try {
    return await body();
  } finally {
    // An init that has ended needs no closing, and must not hide what the body met.
    await setTraceable(session, false).catch(() => undefined);
  }
}

async function setTraceable(session: SessionRecord, traceable: boolean): Promise<void> {
  const live = await openSession(session);
  try {
    await live.withInit((init) => init.setTraceable(traceable));
  } finally {
    live.close();
  }
}
