import type { Machine } from "../../src/preflight/index.js";

const GIB = 1024 * 1024 * 1024;

/** A machine with everything, or with other answers where they are given. */
export function machineWith(changes: Partial<Machine> = {}): Machine {
  const files: Readonly<Record<string, string>> = {
    "/proc/meminfo": "MemTotal:       8000000 kB\nMemAvailable:   6000000 kB\n",
    "/proc/sys/fs/inotify/max_user_instances": "128\n",
  };
  return {
    platform: "linux x64",
    uid: 0,
    exists: (path) => path !== "/sys/block/nbd0",
    read: (path) => files[path],
    program: (name) => `/usr/bin/${name}`,
    inotifyUse: () => ({ instances: 0, watches: 0 }),
    freeBytes: () => 50 * GIB,
    ...changes,
  };
}
