/** Something outside the process that has to be taken down again. */
export interface Resource {
  readonly kind: "mount" | "loop" | "process" | "folder" | "socket" | "cgroup";
  /** Names it among its kind: a path, mostly. */
  readonly id: string;
  readonly [fact: string]: string | number;
}

/** The caller's own record of what it holds: written before a thing is acquired, struck after its release. */
export interface Journal {
  acquire(resource: Resource): Promise<void>;
  release(resource: Resource): Promise<void>;
}

/** For callers that keep no journal: the state folder's own records are enough for collectRoots. */
export const noJournal: Journal = { acquire: async () => {}, release: async () => {} };

/** A journal that knows what went through it, so that all of it can be struck at once. */
export interface TrackedJournal extends Journal {
  /** Strikes everything acquired and not released, the last acquired first. */
  releaseAll(): Promise<void>;
}

export function trackJournal(journal: Journal): TrackedJournal {
  const held = new Map<string, Resource>();
  const key = ({ kind, id }: Resource) => `${kind} ${id}`;
  const release = async (resource: Resource) => {
    held.delete(key(resource));
    await journal.release(resource);
  };
  return {
    acquire: async (resource) => {
      held.set(key(resource), resource);
      await journal.acquire(resource);
    },
    release,
    releaseAll: async () => {
      for (const resource of [...held.values()].reverse()) await release(resource);
    },
  };
}
