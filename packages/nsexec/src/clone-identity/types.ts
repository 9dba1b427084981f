/** Who a session is among those that come from the same image or checkpoint. */
export interface CloneIdentity {
  /** The name that the host knows it by. */
  readonly session: string;
  readonly hostname: string;
  /** 0 in a session that was booted, and one more with each restore on the way to this one. */
  readonly generation: number;
  /** Random, of this session alone: what was derived before a fork is told from what is derived after it. */
  readonly token: string;
  /** The checkpoint that it was restored from. */
  readonly checkpoint?: string;
  /** The session that the checkpoint was made of. */
  readonly parent?: string;
}

/** Where programs of a session read who they are now; all are readable by everybody inside. */
export const IDENTITY_FILES = {
  /**
   * The generation in decimal and a line feed. Written in place, by one write that never shortens it: an open
   * descriptor, a shared mapping and an inotify watch of the file all see the change.
   */
  generation: "/run/drums/generation",
  /** The token, 32 hexadecimal digits and a line feed; replaced as a whole. */
  token: "/run/drums/token",
  /** The whole identity as JSON; replaced as a whole, before the generation changes. */
  identity: "/run/drums/identity.json",
} as const;
