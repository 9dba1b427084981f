/** Major numbers of Documentation/admin-guide/devices.txt. */
const MEMORY = 1;
const TERMINAL_ALIASES = 5;
const MISC = 10;
const TUN_MINOR = 200;
/** Of slaves of pseudo terminals. */
export const UNIX98_SLAVES = { first: 136, last: 143 } as const;
const UNIX98_MASTERS = 128;

/**
 * criu/files.c, dump_chrdev: memory devices, terminals and tun alone. Consoles cannot be tried here: refused.
 * @param rdev as stat(2) gives it
 */
export function isDumpableDevice(rdev: number): boolean {
  const { major, minor } = numbersOf(rdev);
  if (major === MEMORY) return true;
  if (major === TERMINAL_ALIASES) return minor === 0 || minor === 2;
  return isTun(rdev) || (major >= UNIX98_MASTERS && major <= UNIX98_SLAVES.last);
}

export function isTun(rdev: number): boolean {
  const { major, minor } = numbersOf(rdev);
  return major === MISC && minor === TUN_MINOR;
}

/** The number of a terminal in /proc/PID/stat and of the open file's device are of one kind: makedev(3). */
export function numbersOf(rdev: number): { major: number; minor: number } {
  return { major: (rdev >> 8) & 0xfff, minor: (rdev & 0xff) | ((rdev >> 12) & 0xfff00) };
}
