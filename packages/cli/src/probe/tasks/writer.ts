import { posix } from "node:path";
import { pressKey, typeText } from "@drums/readiness";
import { type DocumentFormat, judgeDocument } from "../../documents/judge.js";
import { codeOf } from "../../errors.js";
import type { ApplicationRecipe } from "../../recipes/types.js";
import type { LiveSession } from "../../session/open.js";
import { USER } from "../../session/paths.js";
import { waitFor } from "../../session/wait-for.js";
import { applicationWindow, ownWindows, takesKeys } from "../application.js";
import { untilDrawn } from "../drawn.js";
import type { ProbeTask, SavedDocument } from "./types.js";

/** Saved before the dump, so that LibreOffice holds its lock on it when it is dumped. */
const DRAFT = `${USER.home}/draft.odt`;

/** The first is what siblings' effects are read from. */
const FORMATS: readonly DocumentFormat[] = ["odt", "docx"];

/** LibreOffice Writer: paragraphs typed by hand, saved through its menus by keyboard, read and judged from outside. */
export function writerTask(application: ApplicationRecipe): ProbeTask {
  const place = (label: string) => pathOf(label, "odt");
  return {
    separator: "\n",
    lockedPath: DRAFT,
    place,
    read: (live, label) => readText(live, place(label)),
    sentence: (who) => `${who} was here alone.`,
    prepare: async (live, token) => {
      await takesKeys(live, application);
      const saved = "Typed before the dump.\n";
      const unsaved = `The token is ${token}.\n`;
      await typeInto(live, application, saved);
      await saveAs(live, application, DRAFT);
      await typeInto(live, application, unsaved);
      return saved + unsaved;
    },
    perform: async (live, { sentence, label }) => {
      const frame = await typeInto(live, application, `${sentence}\n`);
      const documents: SavedDocument[] = [];
      for (const format of FORMATS) {
        const path = pathOf(label, format);
        await saveAs(live, application, path);
        documents.push({ format, path, bytes: await live.root.readFile(path) });
      }
      return { content: await readText(live, place(label)), frame, documents };
    },
  };
}

function pathOf(label: string, format: DocumentFormat): string {
  return `${USER.home}/${label}.${format}`;
}

async function readText(live: LiveSession, path: string): Promise<string | null> {
  try {
    return (await judgeDocument(await live.root.readFile(path), "odt")).text;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

async function typeInto(live: LiveSession, application: ApplicationRecipe, text: string) {
  const { id, geometry } = await applicationWindow(live, application);
  const before = await live.frame();
  await live.withX((x) => typeText(x, text, { window: id }));
  return untilDrawn(live, before, { within: geometry });
}

/** File, Save As …, the name, Return; each key only when what it is for is there. The file's end decides its format. */
async function saveAs(live: LiveSession, application: ApplicationRecipe, path: string): Promise<void> {
  const { id, geometry } = await applicationWindow(live, application);
  const before = await live.frame();
  const press = (chord: string) => live.withX((x) => pressKey(x, chord));
  await press("Alt+f");
  await untilDrawn(live, before, { within: geometry });
  await press("a");
  const dialog = async () =>
    (await ownWindows(live, application)).find((window) => window.id !== id && window.focused);
  await waitFor(async () => (await dialog()) !== undefined, { what: "Writer's dialog to save a file" });
  await press("Ctrl+a");
  await live.withX((x) => typeText(x, path));
  await press("Return");
  const name = posix.basename(path);
  await waitFor(
    async () => {
      const { title, focused } = await applicationWindow(live, application);
      return focused && title?.startsWith(`${name} `) === true && (await isWhole(live, path));
    },
    { what: `${path}, saved by Writer` },
  );
}

async function isWhole(live: LiveSession, path: string): Promise<boolean> {
  const format = path.endsWith(".docx") ? "docx" : "odt";
  return (await judgeDocument(await live.root.readFile(path), format)).valid;
}
