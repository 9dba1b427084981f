import { typeText } from "@drums/readiness";
import type { ApplicationRecipe } from "../../recipes/types.js";
import type { LiveSession } from "../../session/open.js";
import { USER } from "../../session/paths.js";
import { waitFor } from "../../session/wait-for.js";
import { applicationWindow } from "../application.js";
import { untilDrawn } from "../drawn.js";
import { readIfThere } from "../facts.js";
import type { ProbeTask } from "./types.js";

/** The file that the shell under each terminal appends to when a sentence is typed. */
const TYPED_FILE = `${USER.home}/typed.txt`;

/** The shell variable that holds the token in the shell's memory alone: no file that a sibling's sentence reads has it. */
const MEMORY = "drums_token";

/** A shell in a terminal: a sentence is a command, its effect a line of a file, and the shell itself puts the token in. */
export function terminalTask(application: ApplicationRecipe): ProbeTask {
  let remembered = "";
  return {
    separator: "\n",
    place: () => TYPED_FILE,
    read: (live) => readIfThere(live, TYPED_FILE),
    sentence: (who, token) => `${who} was here alone; remembered ${token}.`,
    prepare: async (live, token) => {
      remembered = token;
      const before = await live.frame();
      await typeLine(live, application, `${MEMORY}=${token}`);
      await untilDrawn(live, before);
      return "";
    },
    perform: async (live, { sentence }) => {
      const before = await live.frame();
      const lines = await countLines(live);
      const words = sentence.replace(remembered, `$${MEMORY}`);
      await typeLine(live, application, `echo "${words}" >> ${TYPED_FILE}`);
      await waitFor(async () => (await countLines(live)) > lines, {
        what: `the shell's effect on ${TYPED_FILE}`,
        timeoutMs: 10_000,
      });
      const frame = await untilDrawn(live, before);
      return { content: await readIfThere(live, TYPED_FILE), frame, documents: [] };
    },
  };
}

async function countLines(live: LiveSession): Promise<number> {
  return ((await readIfThere(live, TYPED_FILE)) ?? "").split("\n").length;
}

async function typeLine(live: LiveSession, application: ApplicationRecipe, line: string): Promise<void> {
  const { id } = await applicationWindow(live, application);
  await live.withX((x) => typeText(x, `${line}\n`, { window: id }));
}
