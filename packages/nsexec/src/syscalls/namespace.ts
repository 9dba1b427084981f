import { callNative } from "../errors.js";
import { native } from "./native.js";

/*
 * Calls in a namespace of others. Each happens on a thread of its own that joins the namespace by setns(2) and ends
 * with the call: this process stays where it is.
 */

/** sethostname(2) in the uts namespace of a /proc/PID/ns/uts descriptor. @throws SyscallError EINVAL above 64 bytes */
export function setHostnameIn(utsFd: number, name: string): void {
  callNative(() => native().setHostnameIn(utsFd, name));
}

/** Sets an interface up (netdevice(7), SIOCSIFFLAGS) in the net namespace of a descriptor. @throws SyscallError ENODEV */
export function setLinkUpIn(netFd: number, name: string): void {
  callNative(() => native().setLinkUpIn(netFd, name));
}
