import { typeText } from "@drums/readiness";
import type { ApplicationRecipe } from "../../recipes/types.js";
import type { LiveSession } from "../../session/open.js";
import { waitFor } from "../../session/wait-for.js";
import { applicationWindow } from "../application.js";
import { untilDrawn } from "../drawn.js";
import type { ProbeTask } from "./types.js";

/** What a browser adds to a page's title. */
const SUFFIX = / - Chromium$/;
/** Between two letters, as by a quick hand: of a burst of keys a browser may draw no more than its caret. */
const KEY_DELAY_MS = 20;
/** The page's own title while nothing has been typed. */
const EMPTY = "empty";

/** A page of the session's own whose title is what is typed into it: read from outside as the window's title. */
export function browserTask(application: ApplicationRecipe): ProbeTask {
  const typeInto = async (live: LiveSession, text: string) => {
    const { id, geometry } = await applicationWindow(live, application);
    const before = await live.frame();
    await live.withX((x) => typeText(x, text, { window: id, delayMs: KEY_DELAY_MS }));
    await waitFor(async () => (await readTitle(live, application))?.endsWith(text.trimEnd()) === true, {
      what: "the page's word that the text arrived",
      timeoutMs: 15_000,
    });
    return untilDrawn(live, before, { within: geometry });
  };
  return {
    separator: " ",
    place: () => `title of ${application.name}'s window`,
    read: (live) => readTitle(live, application),
    sentence: (who) => `${who} was here alone.`,
    prepare: async (live, token) => {
      await untilLoaded(live, application);
      const text = `Remember ${token}. `;
      await typeInto(live, text);
      return text;
    },
    perform: async (live, { sentence }) => {
      const frame = await typeInto(live, `${sentence} `);
      return { content: await readTitle(live, application), frame, documents: [] };
    },
  };
}

async function readTitle(live: LiveSession, application: ApplicationRecipe): Promise<string | null> {
  const { title } = await applicationWindow(live, application);
  const text = title?.replace(SUFFIX, "");
  return text === undefined || text === EMPTY ? null : text;
}

async function untilLoaded(live: LiveSession, application: ApplicationRecipe): Promise<void> {
  const isLoaded = async () => SUFFIX.test((await applicationWindow(live, application)).title ?? "");
  await waitFor(isLoaded, { what: `${application.name}'s page` });
}
