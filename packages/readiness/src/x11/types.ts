import type { Box } from "../pixels/frame.js";

/** A monitor as RandR 1.5 reports it. */
export interface Monitor extends Box {
  readonly name: string;
  readonly primary: boolean;
}

/** One window, as far as the server or a capture tells. What is absent was not told. */
export interface WindowFacts {
  readonly id: number;
  readonly title?: string;
  /** WM_CLASS: instance and class. */
  readonly instance?: string;
  readonly class?: string;
  /** Process id by the server's own knowledge of the client's socket (X-Resource), in the server's pid namespace. */
  readonly pid?: number;
  /** What the client itself claims in _NET_WM_PID. */
  readonly claimedPid?: number;
  /** On the root window, without the window manager's frame. */
  readonly geometry?: Box;
  /** Mapped, with all its ancestors. */
  readonly mapped?: boolean;
  /** In _NET_CLIENT_LIST: the window manager knows it. */
  readonly managed: boolean;
  readonly overrideRedirect?: boolean;
  /** Names of _NET_WM_STATE, as `_NET_WM_STATE_HIDDEN`. */
  readonly states: readonly string[];
  /** Names of _NET_WM_WINDOW_TYPE. */
  readonly types: readonly string[];
  /** The active window, or one that says _NET_WM_STATE_FOCUSED. */
  readonly focused: boolean;
}

export interface WindowManagerFacts {
  /** _NET_WM_NAME of the check window. */
  readonly name?: string;
  readonly checkWindow: number;
}

/** What the X server (or the texts of a capture) says of a desktop. */
export interface DesktopFacts {
  /** `x11`: asked of a live server. `text`: parsed from xprop and xwininfo texts. */
  readonly source: "x11" | "text";
  readonly screen?: { readonly width: number; readonly height: number };
  /** Present when _NET_SUPPORTING_WM_CHECK on the root leads to a window that confirms it. */
  readonly windowManager?: WindowManagerFacts;
  /** _OB_THEME on the root: openbox sets it when it is done starting. */
  readonly openboxTheme?: string;
  /** Absent where nobody asked or the server has no RandR 1.5; empty where it has no monitor. */
  readonly monitors?: readonly Monitor[];
  /** Which of the extensions that desktops want are there. Absent where nobody asked. */
  readonly extensions?: readonly string[];
  readonly windows: readonly WindowFacts[];
  /** Windows left out because there were more than we look at. */
  readonly windowsLeftOut: number;
  /** _NET_CLIENT_LIST. */
  readonly clientList: readonly number[];
  /** _NET_ACTIVE_WINDOW, where it is not 0. */
  readonly activeWindow?: number;
  /** The window that gets key presses, where it is a window. */
  readonly inputFocus?: number;
  /** Where the mouse pointer's hot spot is. */
  readonly pointer?: { readonly x: number; readonly y: number };
}
