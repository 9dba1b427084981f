/** Paths inside every session; the words of docs/design.md. */
export const INSIDE = {
  init: "/usr/lib/drums/drums-init",
  bus: "/run/dbus/system_bus_socket",
  busConfig: "/run/drums/system-bus.conf",
  /** The X server's socket for display :0: each session has its own network namespace and its own /tmp. */
  x: "/tmp/.X11-unix/X0",
  display: ":0",
  logs: "/var/log/drums",
} as const;

/** The desktop's user. */
export const USER = { uid: 1000, gid: 1000, name: "user", home: "/home/user" } as const;
