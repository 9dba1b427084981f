import { z } from "zod";
import { record } from "./common.js";

/** parity.json: facts that tell the session from the image's own machine. Null where a fact could not be had. */
export const parityRecord = record({
  /** Versions under the root's /lib/modules (or /boot), the kernels that the image would boot. */
  imageKernels: z.array(z.string()),
  /** Target of the root's display-manager.service or content of default-display-manager. */
  imageDisplayManager: z.string().nullable(),
  /** X server programs found in the root, without any layer (`/usr/bin/Xorg` …). */
  imageXServers: z.array(z.string()),
  /** Activation files in the root's system-services folders. */
  imageBusServices: z.int().nonnegative(),
  /** The image's zone, from /etc/timezone or the target of /etc/localtime. */
  imageZone: z.string().nullable(),
  /** Screen lockers found in the root (`xscreensaver`, `gnome-shell` …). */
  imageLockers: z.array(z.string()),
  /** Whether the session's settings let its screen lock; null where it has no such setting. */
  sessionLockEnabled: z.boolean().nullable(),
  /** Name of the image's first process: what /sbin/init of the root leads to; null where it has none. */
  imageInit: z.string().nullable(),
  /** Security modules that the image has programs for (`apparmor`, `selinux`). */
  imageSecurityModules: z.array(z.string()),
  /**
   * Security modules in force on the host, of /sys/kernel/security/lsm; where it is not mounted AppArmor and SELinux
   * by their other signs; null where nothing tells.
   */
  hostSecurityModules: z.array(z.string()).nullable(),
  /** The session's wall clock minus the host's, in seconds, read at the same moment. */
  clockOffsetSeconds: z.number().nullable(),
});
