import type { ApplicationRecipe, DesktopWithoutScreen } from "../types.js";
import { STANDARD_USER } from "../user.js";
import { programsOf, STANDARD_ENVIRONMENT, STANDARD_FOLDERS } from "./_standard.js";

/** One address that is known beforehand, instead of one in /tmp that dbus-run-session makes up. */
const SESSION_BUS = `${STANDARD_ENVIRONMENT.XDG_RUNTIME_DIR}/bus`;

/** Mesa draws in software without first looking for a card that is not there. */
const ENVIRONMENT = {
  ...STANDARD_ENVIRONMENT,
  DBUS_SESSION_BUS_ADDRESS: `unix:path=${SESSION_BUS}`,
  DESKTOP_SESSION: "gnome",
  LIBGL_ALWAYS_SOFTWARE: "1",
  XDG_CURRENT_DESKTOP: "GNOME",
  XDG_SESSION_CLASS: "user",
  XDG_SESSION_DESKTOP: "gnome",
} as const;

const program = programsOf(ENVIRONMENT);

/** What Ubuntu's own session sets (its gnome-shell reads the mode, its programs the desktop's name). */
const UBUNTU = {
  whereFile: "/usr/share/gnome-session/sessions/ubuntu.session",
  argv: ["gnome-session", "--builtin", "--session=ubuntu"],
  env: {
    DESKTOP_SESSION: "ubuntu",
    GNOME_SHELL_SESSION_MODE: "ubuntu",
    XDG_CURRENT_DESKTOP: "ubuntu:GNOME",
    XDG_SESSION_DESKTOP: "ubuntu",
    XDG_CONFIG_DIRS: "/etc/xdg/xdg-ubuntu:/etc/xdg",
    XDG_DATA_DIRS: "/usr/share/ubuntu:/usr/share/gnome:/usr/local/share:/usr/share:/var/lib/snapd/desktop",
  },
} as const;

const WRITER: ApplicationRecipe = {
  name: "writer",
  argv: ["soffice", "--writer", "--norestore"],
  window: { class: "libreoffice-writer", focused: true },
  process: "soffice.bin",
  task: "writer",
};

const PAGE = `${STANDARD_USER.home}/page.html`;

/** Its own sandbox would need nested user namespaces, which no dump takes; a keyring would ask for a password. */
const CHROMIUM: ApplicationRecipe = {
  name: "chromium",
  argv: [
    "chromium",
    ...["--no-sandbox", "--test-type", "--password-store=basic"],
    ...["--no-first-run", "--no-default-browser-check"],
    `file://${PAGE}`,
  ],
  files: [
    {
      path: PAGE,
      content: `<!doctype html>
<meta charset="utf-8">
<title>empty</title>
<style>textarea { font: 20px sans-serif; width: 90%; height: 60vh }</style>
<textarea autofocus oninput="document.title = this.value"></textarea>
`,
    },
  ],
  window: { class: "Chromium", focused: true },
  process: "chromium",
  task: "browser",
};

/**
 * GNOME as its own session file starts it, without systemd (`--builtin`): shell and settings daemons as the image's
 * user, on a session bus of their own and the private system bus.
 */
export const gnomeDesktop: DesktopWithoutScreen = {
  name: "gnome",
  user: STANDARD_USER,
  sessionBus: SESSION_BUS,
  folders: STANDARD_FOLDERS,
  programs: [
    program(
      "session-bus",
      ["dbus-daemon", "--session", "--nofork", "--nopidfile", `--address=unix:path=${SESSION_BUS}`],
      {
        startsAfter: [],
        runs: "stays",
      },
    ),
    program("gnome-session", ["gnome-session", "--builtin", "--session=gnome"], {
      startsAfter: ["display", "session-bus"],
      runs: "stays",
      variants: [UBUNTU],
    }),
  ],
  rules: "gnome",
  applications: [WRITER, CHROMIUM],
  env: ENVIRONMENT,
};
