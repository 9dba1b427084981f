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

/** The files of an attachment in its folder. */
export function natFiles(folder: string): { readonly socket: string; readonly log: string } {
  return { socket: join(folder, "nat.sock"), log: join(folder, "nat.log") };
}

/** The resolv.conf(5) of a namespace with a NAT: slirp4netns answers there with the host's own resolver. */
export function natResolvConf(): string {
  return `nameserver ${NAT.nameserver}\n`;
}
