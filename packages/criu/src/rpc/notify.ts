/** The moments CRIU tells of, by the names of its action scripts (criu/action-scripts.c). */
export const STAGES = [
  "pre-stream",
  "pre-dump",
  "post-dump",
  "pre-restore",
  "post-restore",
  "network-lock",
  "network-unlock",
  "setup-namespaces",
  "post-setup-namespaces",
  "pre-resume",
  "post-resume",
  "orphan-pts-master",
  "status-ready",
  "query-ext-files",
] as const;

export type Stage = (typeof STAGES)[number];

/** One notification. CRIU stands still until the handler has finished. */
export interface Notification {
  readonly stage: Stage;
  /** Host pid of the tree's root; CRIU gives it at setup-namespaces and post-restore. */
  readonly pid?: number;
  /** Descriptors that came along (orphan-pts-master); closed after the handler has finished. */
  readonly fds: readonly number[];
  /** CRIU's own pid, as the caller sees it. */
  readonly criuPid: number;
  /** Aborted where the call ends before the handler does. */
  readonly signal: AbortSignal;
}

/** Rejecting makes CRIU give up the dump or restore; a dump's tasks then run on. */
export type NotifyHandler = (notification: Notification) => void | Promise<void>;

/** Whether a script name is a stage this package knows. */
export function isStage(name: string): name is Stage {
  return (STAGES as readonly string[]).includes(name);
}
