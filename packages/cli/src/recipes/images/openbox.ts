import type { ImageRecipe } from "../types.js";
import { STANDARD_USER } from "../user.js";

/** openbox reads this menu by its default configuration and complains where it is missing. */
const EMPTY_MENU = `<?xml version="1.0" encoding="UTF-8"?>
<openbox_menu xmlns="http://openbox.org/3.4/menu">
  <menu id="/Debian" label="Debian"/>
</openbox_menu>
`;

/**
 * A small desktop: openbox and xterm, with the tools that tasks and probes call.
 * No X server and no LLVM: the server comes in as a layer, as it does over images that never had one.
 */
export const openboxImage: ImageRecipe = {
  name: "openbox",
  suite: "bookworm",
  packages: [
    "openbox",
    "xterm",
    "hsetroot",
    "dbus",
    "python3",
    "xdotool",
    "fontconfig",
    "fonts-dejavu-core",
    "sudo",
    "procps",
  ],
  emptyFolders: [
    "/usr/share/doc",
    "/usr/share/info",
    "/usr/share/lintian",
    "/usr/share/locale",
    "/usr/share/man",
  ],
  user: STANDARD_USER,
  files: [
    { path: "/etc/hostname", content: "openbox\n" },
    {
      path: "/etc/hosts",
      content: "127.0.0.1\tlocalhost\n127.0.1.1\topenbox\n::1\tlocalhost ip6-localhost ip6-loopback\n",
    },
    { path: "/var/lib/openbox/debian-menu.xml", content: EMPTY_MENU },
  ],
  disk: { espMiB: 64, rootMiB: 1024, rootLabel: "drums-root" },
};
