import { type DesktopFacts, type Frame, frameDifference, typeText } from "@drums/readiness";
import { DrumsError, EXIT } from "../errors.js";
import type { LiveSession } from "../session/open.js";
import { USER } from "../session/paths.js";
import { waitFor } from "../session/wait-for.js";
import { readIfThere } from "./facts.js";

/** The file that the shell under each xterm writes to when a sentence is typed. */
export const TYPED_FILE = `${USER.home}/typed.txt`;

/** The shell variable that holds the token in the shell's memory alone, from before the dump on. */
const MEMORY = "drums_token";

/** Types the token into the shell's memory, before the dump: it is in no file that a sibling's sentence reads. */
export async function typeIntoMemory(live: LiveSession, token: string): Promise<void> {
  const before = await live.frame();
  await typeLine(live, `${MEMORY}=${token}`);
  await untilDrawn(live, before);
}

/** The sentence of one sibling; its shell puts the remembered token in, so that the file proves the memory too. */
export function sentenceFor(sibling: number, token: string): string {
  return `Sibling ${sibling} was here alone; remembered ${token}.`;
}

/** Types a sentence as a command into the focused terminal, and waits until the screen and the shell's file show it. */
export async function typeSentence(
  live: LiveSession,
  sibling: number,
): Promise<{ content: string | null; frame: Frame }> {
  const before = await live.frame();
  await typeLine(live, `echo "${sentenceFor(sibling, `$${MEMORY}`)}" >> ${TYPED_FILE}`);
  await waitFor(async () => (await readIfThere(live, TYPED_FILE))?.endsWith("\n") === true, {
    what: `the shell's effect on ${TYPED_FILE}`,
    timeoutMs: 10_000,
  });
  const frame = await untilDrawn(live, before);
  return { content: await readIfThere(live, TYPED_FILE), frame };
}

async function typeLine(live: LiveSession, line: string): Promise<void> {
  await live.withX(async (x) => {
    await typeText(x, `${line}\n`, { window: terminalOf(await live.facts()) });
  });
}

/** The frame after the screen changed and then stood still between two looks. */
async function untilDrawn(live: LiveSession, before: Frame): Promise<Frame> {
  let last = before;
  await waitFor(
    async () => {
      const frame = await live.frame();
      const isStill = frameDifference(last, frame) === 0;
      last = frame;
      return isStill && frameDifference(before, frame) > 0;
    },
    { what: "the typed text on the screen", timeoutMs: 10_000, pollMs: 20 },
  );
  return last;
}

function terminalOf({ windows }: DesktopFacts): number {
  const terminal = windows.find((window) => window.class === "XTerm" && window.managed);
  if (terminal !== undefined) return terminal.id;
  throw new DrumsError({
    code: "NO_TERMINAL",
    exitCode: EXIT.verdictFailed,
    what: "the desktop has no terminal window to type into",
    hint: "see facts.json of the evidence for the windows that it has",
  });
}
