import { ReadinessError } from "./errors.js";
import type { Box } from "./pixels/frame.js";
import { printable } from "./x11/setup.js";
import type { DesktopFacts, WindowFacts } from "./x11/types.js";

/** The texts that were kept beside a capture. */
export interface FactsTexts {
  /** Output of `xprop -root`. */
  readonly root: string;
  /** Output of `xwininfo -root -tree`. */
  readonly tree?: string;
  /** Outputs of `xprop -id WINDOW`, which do not say which window: it is found by its title and class. */
  readonly windows?: readonly string[];
}

const MAX_TEXT = 4 * 1024 * 1024;
const MAX_WINDOWS = 4_096;
/** `NAME(TYPE) = value`, `NAME(TYPE): window id # 0x1, 0x2`, or a value on the lines below. */
const PROPERTY = /^([A-Za-z_][\w-]*)\(([A-Z0-9_]+)\)(?: = |:\s*)(.*)$/;
const TREE_WINDOW =
  /^\s+(0x[0-9a-f]+) (?:"(.*)"|\(has no name\)): \((.*)\)\s+(\d+)x(\d+)\+-?\d+\+-?\d+\s+\+(-?\d+)\+(-?\d+)\s*$/;
const CLASS_PAIR = /^"(.*?)" (?:"(.*?)"|\(none\))$/;

/**
 * The facts in the texts of a capture. Whether an unmanaged window is mapped stands in none of them, and
 * is left out. Throws BAD_FACTS_TEXT for a text that is not xprop's, or too long.
 */
export function parseFactsText({ root, tree = "", windows = [] }: FactsTexts): DesktopFacts {
  const properties = parseProperties(root);
  if (properties.size === 0) throw badText("the text of xprop -root holds no property");
  const clientList = ids(properties.get("_NET_CLIENT_LIST"));
  const [active] = ids(properties.get("_NET_ACTIVE_WINDOW"));
  const [checkWindow] = ids(properties.get("_NET_SUPPORTING_WM_CHECK"));
  const [width, height] = numbers(properties.get("_NET_DESKTOP_GEOMETRY"));
  const [theme] = quoted(properties.get("_OB_THEME"));
  const listed = parseTree(tree);
  const name = listed.find(({ id }) => id === checkWindow)?.title;
  return {
    source: "text",
    ...(width && height && { screen: { width, height } }),
    ...(checkWindow && { windowManager: { checkWindow, ...(name !== undefined && { name }) } }),
    ...(theme !== undefined && { openboxTheme: theme }),
    windows: describe(listed, { clientList, active, details: windows.map(parseProperties) }),
    windowsLeftOut: 0,
    clientList,
    ...(active && { activeWindow: active }),
  };
}

interface TreeWindow {
  readonly id: number;
  readonly title?: string;
  readonly instance?: string;
  readonly class?: string;
  readonly geometry?: Box;
}

type Properties = ReadonlyMap<string, string>;

function parseProperties(text: string): Properties {
  const properties = new Map<string, string>();
  let last: string | undefined;
  for (const line of lines(text)) {
    const found = PROPERTY.exec(line);
    if (found) {
      last = found[1] as string;
      properties.set(last, found[3] as string);
    } else if (last !== undefined && /^\s/.test(line)) {
      properties.set(last, `${properties.get(last)}\n${line.trim()}`); // values of several lines are indented
    }
  }
  return properties;
}

function parseTree(text: string): TreeWindow[] {
  const found: TreeWindow[] = [];
  for (const line of lines(text)) {
    const window = TREE_WINDOW.exec(line);
    if (window === null) continue;
    if (found.length === MAX_WINDOWS) throw badText(`more than ${MAX_WINDOWS} windows`);
    found.push(treeWindow(window));
  }
  return found;
}

function treeWindow([, id, title, classes, width, height, x, y]: RegExpExecArray): TreeWindow {
  const pair = CLASS_PAIR.exec(classes ?? "");
  return {
    id: Number(id),
    ...(title !== undefined && { title: printable(title) }),
    ...(pair?.[1] && { instance: printable(pair[1]) }),
    ...(pair?.[2] && { class: printable(pair[2]) }),
    geometry: { x: Number(x), y: Number(y), width: Number(width), height: Number(height) },
  };
}

interface Around {
  readonly clientList: readonly number[];
  readonly active: number | undefined;
  readonly details: readonly Properties[];
}

/** Managed windows first, also those that no tree tells more about. */
function describe(tree: readonly TreeWindow[], { clientList, active, details }: Around): WindowFacts[] {
  const managed = clientList.map((id) => tree.find((window) => window.id === id) ?? { id });
  const others = tree.filter(({ id }) => !clientList.includes(id));
  return [...managed, ...others].map((window) => {
    const isManaged = clientList.includes(window.id);
    const detail = isManaged ? detailOf(window, details, clientList.length) : undefined;
    return withDetail(window, { isManaged, isActive: window.id === active, detail });
  });
}

/** `xprop -id` does not repeat the id: the only managed window is meant, or the one of that title and class. */
function detailOf(
  window: TreeWindow,
  details: readonly Properties[],
  managed: number,
): Properties | undefined {
  if (managed === 1 && details.length === 1) return details[0];
  return details.find((detail) => {
    const [instance, className] = quoted(detail.get("WM_CLASS"));
    const [title] = quoted(detail.get("WM_NAME"));
    return title === window.title && instance === window.instance && className === window.class;
  });
}

function withDetail(
  window: TreeWindow,
  { isManaged, isActive, detail }: { isManaged: boolean; isActive: boolean; detail: Properties | undefined },
): WindowFacts {
  const [title] = quoted(detail?.get("_NET_WM_NAME") ?? detail?.get("WM_NAME"));
  const [instance, className] = quoted(detail?.get("WM_CLASS"));
  const [claimedPid] = numbers(detail?.get("_NET_WM_PID"));
  const states = names(detail?.get("_NET_WM_STATE"));
  const state = detail?.get("WM_STATE");
  return {
    ...window,
    ...(title !== undefined && { title: printable(title) }),
    ...(instance !== undefined && { instance: printable(instance) }),
    ...(className !== undefined && { class: printable(className) }),
    ...(claimedPid !== undefined && { claimedPid }),
    ...(state !== undefined && { mapped: /window state: Normal/.test(state) }),
    managed: isManaged,
    states,
    types: names(detail?.get("_NET_WM_WINDOW_TYPE")),
    focused: isActive || states.includes("_NET_WM_STATE_FOCUSED"),
  };
}

function lines(text: string): string[] {
  if (text.length > MAX_TEXT) throw badText(`${text.length} characters is more than ${MAX_TEXT}`);
  return text.split("\n");
}

function ids(value = ""): number[] {
  return (value.match(/0x[0-9a-f]+/g) ?? []).map(Number).filter((id) => id !== 0);
}

function numbers(value = ""): number[] {
  return (value.match(/\d+/g) ?? []).map(Number);
}

function names(value = ""): string[] {
  return value.match(/_[A-Z0-9_]+/g) ?? [];
}

function quoted(value = ""): string[] {
  return [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) =>
    (text as string).replace(/\\(.)/g, "$1"),
  );
}

function badText(detail: string): ReadinessError {
  return new ReadinessError("BAD_FACTS_TEXT", `the facts of the capture cannot be read: ${detail}`, {
    hint: "give the whole outputs of `xprop -root`, `xwininfo -root -tree` and `xprop -id`",
  });
}
