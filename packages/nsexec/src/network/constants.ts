import { join } from "node:path";

/** What slirp4netns gives a net namespace by its `--configure` (slirp4netns(1)): the same in each, so that siblings agree. */
export const NAT = {
  device: "tap0",
  address: "10.0.2.100",
  gateway: "10.0.2.2",
  nameserver: "10.0.2.3",
} as const;

/** The address of the host that ports are published on: never more than its loopback. */
export const PUBLISH_ADDRESS = "127.0.0.1";

/**
 * Whether slirp4netns ends by itself with its target on a kernel, given as `uname -r` says it. It waits for a hang-up
 * of the target's pidfd, which the kernel signals since 6.9 (pidfd_poll: EPOLLHUP once the process is reaped).
 */
export function natEndsByItself(release: string): boolean {
  const [major = 0, minor = 0] = release.split(/[.-]/).map(Number);
  return major > 6 || (major === 6 && minor >= 9);
}

/** The files of an attachment in its folder. */
export function natFiles(folder: string): { readonly socket: string; readonly log: string } {
  return { socket: join(folder, "nat.sock"), log: join(folder, "nat.log") };
}

/** The resolv.conf(5) of a namespace with a NAT: slirp4netns answers there with the host's own resolver. */
export function natResolvConf(): string {
  return `nameserver ${NAT.nameserver}\n`;
}
