import { gnome } from "../desktop/gnome.js";
import { openbox } from "../desktop/openbox.js";
import type { DesktopProfile } from "../desktop/types.js";
import { bareScreen } from "./bare.js";
import {
  expectedWindow,
  failurePage,
  monitor,
  noModalDialog,
  otherWindows,
  somethingToSee,
  stillness,
  windowManager,
} from "./checks.js";
import { lookAt } from "./picture.js";
import type { Check, Observation, Rules, WindowExpectation } from "./types.js";

export interface DefaultRulesOptions {
  /** A window that must be on the screen, as that of a program under test. Default: none is asked for. */
  readonly window?: WindowExpectation;
  /** Whether other windows than `window` may be on the screen; they are named either way. Default true. */
  readonly otherWindows?: boolean;
  /** The largest fraction of pixels that may change between two frames. Default 0.005: a clock, a caret. */
  readonly maxChange?: number;
  /** Desktops that are known by name. Default: openbox and GNOME. */
  readonly desktops?: readonly DesktopProfile[];
}

/**
 * The rule of this package. What is on the screen decides (a dark desktop is fine, a bright failure page is
 * not), together with what the X server and the bus say; a check that has no facts answers `unknown`.
 */
export function defaultRules(options: DefaultRulesOptions = {}): Rules {
  const { desktops = [openbox, gnome] } = options;
  return {
    name: "default",
    checks: (seen) => {
      const { facts } = seen;
      const desktop = facts && desktops.find((profile) => profile.matches(facts));
      // Without signals of its own a bare screen says less than the window manager that is missing.
      return allChecks(seen, { ...options, desktop, isExpected: false });
    },
  };
}

/**
 * The rule for a desktop that is known to be GNOME: the default one, with the signals in the order in which they come
 * up (bus name, window manager, monitor, the Shell's own word, pixels), and a bare screen named by its cause from the
 * first moment on. Give the wait `bus`, else only pixels and windows are judged.
 */
export function gnomeRules(options: Omit<DefaultRulesOptions, "desktops"> = {}): Rules {
  return {
    name: "gnome",
    checks: (seen) => allChecks(seen, { ...options, desktop: gnome, isExpected: true }),
  };
}

interface Composition extends DefaultRulesOptions {
  readonly desktop: DesktopProfile | undefined;
  /** The desktop is known to be this one, whether or not its window manager says so yet. */
  readonly isExpected: boolean;
}

/** The likeliest cause of a bad screen first: the first check that fails names the verdict. */
function allChecks(seen: Observation, composition: Composition): Check[] {
  const { window, maxChange = 0.005, otherWindows: allowed = true, desktop, isExpected } = composition;
  const picture = lookAt(seen);
  const isWhole =
    picture.kind === "shown" || (picture.kind === "panel" && desktop?.hasPlainBackground?.(seen) === true);
  const bare = isWhole ? undefined : bareScreen(seen, picture, desktop);
  return [
    failurePage(seen),
    ...(isExpected ? (desktop?.signals?.(seen, bare) ?? []) : []),
    windowManager(seen, isExpected ? bare : undefined),
    monitor(seen, bare),
    ...(desktop?.checks(seen, bare) ?? []),
    somethingToSee(picture, bare),
    noModalDialog(seen, window),
    ...(window
      ? [
          ...expectedWindow(seen, window, { areHidden: desktop?.hidesWindows?.(seen) === true }),
          otherWindows(seen, window, { allowed }),
        ]
      : []),
    stillness(seen, maxChange),
  ];
}
