import type { ApplicationRecipe, TaskName } from "../../recipes/types.js";
import { browserTask } from "./browser.js";
import { terminalTask } from "./terminal.js";
import type { MakeTask, ProbeTask } from "./types.js";
import { writerTask } from "./writer.js";

export type { Done, ProbeTask, SavedDocument, Work } from "./types.js";

const TASKS: Readonly<Record<TaskName, MakeTask>> = {
  terminal: terminalTask,
  writer: writerTask,
  browser: browserTask,
};

/** The task of an application. It is one probe's: it remembers what was typed. */
export function taskOf(application: ApplicationRecipe): ProbeTask {
  return TASKS[application.task](application);
}
