import type { ImageRecipe } from "../types.js";
import { STANDARD_USER } from "../user.js";

/** Defaults below each user's own settings (dconf(7)). */
const DCONF_PROFILE = "user-db:user\nsystem-db:local\n";

/**
 * Nothing may cover or put away a desktop that nobody touches: no lock, no idle, no sleep, no welcome and no tour.
 * Animations are off as on every machine that draws in software and wants to be quick.
 */
const DCONF_DEFAULTS = `[org/gnome/desktop/lockdown]
disable-lock-screen=true

[org/gnome/desktop/screensaver]
idle-activation-enabled=false
lock-enabled=false

[org/gnome/desktop/session]
idle-delay=uint32 0

[org/gnome/settings-daemon/plugins/power]
idle-dim=false
sleep-inactive-ac-type='nothing'
sleep-inactive-battery-type='nothing'

[org/gnome/shell]
favorite-apps=['chromium.desktop', 'org.gnome.Nautilus.desktop', 'libreoffice-writer.desktop', 'org.gnome.Terminal.desktop', 'org.gnome.gedit.desktop']
welcome-dialog-last-shown-version='999'

[org/gnome/desktop/interface]
enable-animations=false

[org/gnome/desktop/background]
color-shading-type='vertical'
picture-options='none'
primary-color='#3d6d8c'
secondary-color='#16222f'
`;

/** No first-run window, no tip of the day, no bar about what is new, no question whether a .docx should stay one. */
const LIBREOFFICE = registry([
  ["Setup/Office", "FirstStartWizardCompleted", "true"],
  // The bar is shown to whoever last ran an older version than this.
  ["Setup/Product", "ooSetupLastVersion", "99.9"],
  ["Office.Common/Misc", "FirstRun", "false"],
  ["Office.Common/Misc", "ShowTipOfTheDay", "false"],
  ["Office.Common/Save/Document", "WarnAlienFormat", "false"],
]);

/** Chromium asks and tells nobody anything at its first start. */
const CHROMIUM_POLICY = {
  BrowserSignin: 0,
  DefaultBrowserSettingEnabled: false,
  MetricsReportingEnabled: false,
  PromotionalTabsEnabled: false,
  SafeBrowsingProtectionLevel: 0,
} as const;

/**
 * A stand-in for an OSWorld-like machine: GNOME Shell, Writer, Chromium, files, terminal, editor. Without gjs the
 * screen saver's service cannot start, and without ibus the failure page sometimes runs behind a working shell.
 * No X server but the Wayland one that mutter pulls in: the one it is run with comes in as a layer.
 */
export const gnomeImage: ImageRecipe = {
  name: "gnome",
  suite: "bookworm",
  packages: [
    ...["gnome-session", "gnome-shell", "gjs", "ibus", "dbus", "dconf-cli"],
    ...["libgl1-mesa-dri", "adwaita-icon-theme", "fontconfig"],
    ...["fonts-cantarell", "fonts-dejavu-core", "fonts-liberation"],
    ...["libreoffice-writer", "libreoffice-gtk3", "chromium"],
    ...["nautilus", "gnome-terminal", "gedit"],
    ...["python3", "xdotool", "sudo", "procps"],
  ],
  emptyFolders: [
    "/usr/share/doc",
    "/usr/share/gnome/help",
    "/usr/share/help",
    "/usr/share/info",
    "/usr/share/lintian",
    "/usr/share/locale",
    "/usr/share/man",
  ],
  user: STANDARD_USER,
  files: [
    { path: "/etc/hostname", content: "gnome\n" },
    {
      path: "/etc/hosts",
      content: "127.0.0.1\tlocalhost\n127.0.1.1\tgnome\n::1\tlocalhost ip6-localhost ip6-loopback\n",
    },
    { path: "/etc/dconf/profile/user", content: DCONF_PROFILE },
    { path: "/etc/dconf/db/local.d/00-drums", content: DCONF_DEFAULTS },
    {
      path: `${STANDARD_USER.home}/.config/libreoffice/4/user/registrymodifications.xcu`,
      content: LIBREOFFICE,
      owner: "user",
    },
    // The Shell's mark that it has told once that only GDM could lock the screen.
    { path: `${STANDARD_USER.home}/.local/share/gnome-shell/lock-warning-shown`, content: "", owner: "user" },
    // The file indexer would read and watch a home in which tasks come and go.
    {
      path: `${STANDARD_USER.home}/.config/autostart/tracker-miner-fs-3.desktop`,
      content: "[Desktop Entry]\nType=Application\nName=Tracker\nExec=/bin/true\nHidden=true\n",
      owner: "user",
    },
    {
      path: "/etc/chromium/policies/managed/drums.json",
      content: `${JSON.stringify(CHROMIUM_POLICY, undefined, 2)}\n`,
    },
  ],
  finish: [["dconf", "update"]],
  disk: { espMiB: 64, rootMiB: 3072, rootLabel: "drums-root" },
};

/** registrymodifications.xcu: path below org.openoffice, property, value. */
function registry(items: readonly (readonly [string, string, string])[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry">',
    ...items.map(
      ([path, name, value]) =>
        `<item oor:path="/org.openoffice.${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
    ),
    "</oor:items>",
    "",
  ].join("\n");
}
