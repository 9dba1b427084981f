/** Paths inside every session; the words of docs/design.md. */
export const INSIDE = {
  init: "/usr/lib/drums/drums-init",
  bus: "/run/dbus/system_bus_socket",
  busConfig: "/run/drums/system-bus.conf",
  /** The X server's socket for display :0: each session has its own network namespace and its own /tmp. */
  x: "/tmp/.X11-unix/X0",
  display: ":0",
  logs: "/var/log/drums",
  /** Xvfb's -fbdir file, XWD format. On the upper, so that a checkpoint need not pipe it through tar. */
  framebuffer: "/var/lib/drums/fb/Xvfb_screen0",
} as const;

/** The desktop's user. */
export const USER = { uid: 1000, gid: 1000, name: "user", home: "/home/user" } as const;
