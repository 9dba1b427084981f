import type { XSession } from "./connection.js";
import {
  type Extension,
  getGeometry,
  getInputFocus,
  getProperty,
  getWindowAttributes,
  type Property,
  queryPointer,
  queryTree,
  randrGetMonitors,
  randrQueryVersion,
  resClientPid,
  resQueryVersion,
  translateOrigin,
} from "./requests.js";
import { printable } from "./setup.js";
import type { DesktopFacts, Monitor, WindowFacts, WindowManagerFacts } from "./types.js";

export interface GatherOptions {
  /** Windows looked at, managed ones first; the others are counted. Default 256. */
  readonly maxWindows?: number;
  /** For everything together. Default 5000 ms. */
  readonly timeoutMs?: number;
}

/** Extensions that desktops want, by their names on the wire. */
const EXTENSIONS = [
  "RANDR",
  "XTEST",
  "X-Resource",
  "DAMAGE",
  "Composite",
  "XFIXES",
  "GLX",
  "MIT-SHM",
] as const;
const ATOMS = ["_NET_WM_NAME", "_NET_WM_PID", "_NET_WM_STATE", "_NET_WM_WINDOW_TYPE", "UTF8_STRING"] as const;
const TEXT_BYTES = 4_096;
const LIST_BYTES = 65_536;
const MAX_ATOMS = 32;
const POINTER_ROOT = 1;

/**
 * Asks the server for what a verdict needs: window manager, monitors, windows with their owners, focus.
 * Pipelined: about 3 ms. A window that goes in between is left out. Throws as {@link connectX} does.
 */
export async function gatherFacts(x: XSession, options: GatherOptions = {}): Promise<DesktopFacts> {
  const { maxWindows = 256, timeoutMs = 5_000 } = options;
  return x.within(gather(x, maxWindows), timeoutMs, "gathering the facts of the desktop");
}

async function gather(x: XSession, maxWindows: number): Promise<DesktopFacts> {
  await Promise.all(ATOMS.map((name) => x.atom(name))); // once, not for each window
  const { root, width, height } = x.setup;
  const [windowManager, openboxTheme, clientList, [active], tree, focus, pointer, extensions] =
    await Promise.all([
      windowManagerOf(x),
      textOf(x, root, "_OB_THEME"),
      cardsOf(x, root, "_NET_CLIENT_LIST"),
      cardsOf(x, root, "_NET_ACTIVE_WINDOW"),
      x.call(queryTree(root)),
      x.call(getInputFocus()),
      x.call(queryPointer(root)),
      Promise.all(EXTENSIONS.map(async (name) => ((await x.extension(name)) ? name : undefined))),
    ]);
  const managed = new Set(clientList);
  const all = [...managed, ...tree.children.filter((id) => !managed.has(id)).reverse()];
  const [windows, monitors] = await Promise.all([
    windowsOf(x, all.slice(0, maxWindows), { managed, active }),
    monitorsOf(x),
  ]);
  return {
    source: "x11",
    screen: { width, height },
    ...(windowManager && { windowManager }),
    ...(openboxTheme !== undefined && { openboxTheme }),
    ...(monitors && { monitors }),
    extensions: extensions.filter((name) => name !== undefined),
    windows,
    windowsLeftOut: Math.max(all.length - maxWindows, 0),
    clientList,
    ...(active && { activeWindow: active }),
    ...(focus > POINTER_ROOT && { inputFocus: focus }),
    pointer: { x: pointer.x, y: pointer.y },
  };
}

/** EWMH: the check window must carry the same property with its own id, else it is a dead manager's. */
async function windowManagerOf(x: XSession): Promise<WindowManagerFacts | undefined> {
  const [checkWindow] = await cardsOf(x, x.setup.root, "_NET_SUPPORTING_WM_CHECK");
  if (!checkWindow) return undefined;
  const [[confirmed], name] = await Promise.all([
    cardsOf(x, checkWindow, "_NET_SUPPORTING_WM_CHECK"),
    textOf(x, checkWindow, "_NET_WM_NAME"),
  ]);
  if (confirmed !== checkWindow) return undefined;
  return { checkWindow, ...(name !== undefined && { name }) };
}

async function monitorsOf(x: XSession): Promise<Monitor[] | undefined> {
  const randr = await x.extension("RANDR");
  if (randr === undefined) return undefined;
  const [version, monitors] = await Promise.all([
    x.call(randrQueryVersion(randr)),
    x.ask(randrGetMonitors(randr, x.setup.root)),
  ]);
  if (monitors === undefined || version.major < 1 || (version.major === 1 && version.minor < 5))
    return undefined;
  return Promise.all(
    monitors.map(async ({ nameAtom, ...monitor }) => ({ name: await x.atomName(nameAtom), ...monitor })),
  );
}

interface Surroundings {
  readonly managed: ReadonlySet<number>;
  readonly active: number | undefined;
}

async function windowsOf(x: XSession, ids: readonly number[], around: Surroundings): Promise<WindowFacts[]> {
  const resource = await usableResource(x);
  const windows = await Promise.all(ids.map((id) => windowOf(x, id, { ...around, resource })));
  return windows.filter((window) => window !== undefined);
}

async function usableResource(x: XSession): Promise<Extension | undefined> {
  const resource = await x.extension("X-Resource");
  if (resource === undefined) return undefined;
  const { major, minor } = await x.call(resQueryVersion(resource));
  return major > 1 || (major === 1 && minor >= 2) ? resource : undefined;
}

async function windowOf(
  x: XSession,
  id: number,
  { managed, active, resource }: Surroundings & { resource: Extension | undefined },
): Promise<WindowFacts | undefined> {
  const [attributes, size, origin, title, legacyTitle, wmClass, [claimedPid], states, types, pid] =
    await Promise.all([
      x.ask(getWindowAttributes(id)),
      x.ask(getGeometry(id)),
      x.ask(translateOrigin(id, x.setup.root)),
      textOf(x, id, "_NET_WM_NAME"),
      textOf(x, id, "WM_NAME"),
      textsOf(x, id, "WM_CLASS"),
      cardsOf(x, id, "_NET_WM_PID"),
      atomsOf(x, id, "_NET_WM_STATE"),
      atomsOf(x, id, "_NET_WM_WINDOW_TYPE"),
      resource && x.ask(resClientPid(resource, id)),
    ]);
  if (attributes === undefined || size === undefined || origin === undefined) return undefined;
  if (attributes.inputOnly) return undefined; // draws nothing, so it is not on the screen
  const name = title ?? legacyTitle;
  return {
    id,
    ...(name !== undefined && { title: name }),
    ...(wmClass[0] !== undefined && { instance: wmClass[0] }),
    ...(wmClass[1] !== undefined && { class: wmClass[1] }),
    ...(pid !== undefined && { pid }),
    ...(claimedPid !== undefined && { claimedPid }),
    geometry: { x: origin.x, y: origin.y, width: size.width, height: size.height },
    mapped: attributes.viewable,
    managed: managed.has(id),
    overrideRedirect: attributes.overrideRedirect,
    states,
    types,
    focused: id === active || states.includes("_NET_WM_STATE_FOCUSED"),
  };
}

async function property(
  x: XSession,
  window: number,
  name: string,
  maxBytes: number,
): Promise<Property | undefined> {
  const atom = await x.atom(name);
  if (atom === 0) return undefined;
  const found = await x.ask(getProperty(window, atom, maxBytes));
  return found === undefined || found.type === 0 ? undefined : found;
}

async function cardsOf(x: XSession, window: number, name: string): Promise<number[]> {
  const found = await property(x, window, name, LIST_BYTES);
  if (found?.format !== 32) return [];
  return Array.from({ length: found.data.length >> 2 }, (_, index) => found.data.readUInt32LE(index * 4));
}

async function textOf(x: XSession, window: number, name: string): Promise<string | undefined> {
  return (await textsOf(x, window, name))[0];
}

/** The strings of a property; they are separated by zero bytes. */
async function textsOf(x: XSession, window: number, name: string): Promise<string[]> {
  const found = await property(x, window, name, TEXT_BYTES);
  if (found?.format !== 8) return [];
  const encoding = found.type === (await x.atom("UTF8_STRING")) ? "utf8" : "latin1";
  const texts = found.data.toString(encoding).split("\0");
  if (texts.at(-1) === "") texts.pop();
  return texts.map((text) => printable(text));
}

async function atomsOf(x: XSession, window: number, name: string): Promise<string[]> {
  const atoms = (await cardsOf(x, window, name)).slice(0, MAX_ATOMS);
  return Promise.all(atoms.map((atom) => x.atomName(atom)));
}
