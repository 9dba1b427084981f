/** A state that CRIU loses or refuses and that /proc does not show: the audit cannot foretell it. */
export interface BlindSpot {
  /** The corpus case that proves it. */
  readonly case: string;
  readonly object: string;
  /** What is gone in a sibling, or that the dump is refused. */
  readonly comes: string;
  /** The versions of CRIU for which it is so. Default: all. */
  readonly criu?: readonly string[];
}

/** Every such state that is known. */
export const BLIND_SPOTS: readonly BlindSpot[] = [
  {
    case: "inotify_queued",
    object: "an inotify queue with events in it",
    comes: "the events; the watch stays",
  },
  {
    case: "landlock_enforced",
    object: "a process that Landlock restricts",
    comes: "the restriction: a sibling's process may do what the original may not",
  },
  { case: "memory_sealed", object: "memory sealed by mseal(2)", comes: "the seal" },
  {
    case: "memory_wiped",
    object: "memory wiped on fork (MADV_WIPEONFORK)",
    comes: "that it is wiped",
    criu: ["4.1.1"],
  },
  {
    case: "memory_droppable",
    object: "memory that may be dropped (MAP_DROPPABLE)",
    comes: "that it may be dropped",
    criu: ["4.1.1"],
  },
  {
    case: "memory_guarded",
    object: "memory with guard pages (MADV_GUARD_INSTALL)",
    comes: "nothing: the dump is refused",
    criu: ["4.1.1"],
  },
  { case: "task_io_priority", object: "an I/O priority of its own (ioprio_set(2))", comes: "the priority" },
  {
    case: "task_keyring",
    object: "keys in a session keyring (keyrings(7))",
    comes: "the keyring and its keys",
  },
  { case: "unix_urgent", object: "an urgent byte in a unix socket (MSG_OOB)", comes: "the byte" },
];

/** The cases that the audit gets wrong with a version of CRIU. */
export function blindCases(criu: string): string[] {
  return BLIND_SPOTS.filter((spot) => spot.criu?.includes(criu) ?? true).map((spot) => spot.case);
}
