import { z } from "zod";
import {
  decimal,
  fileIdentity,
  monotonic,
  namedCheck,
  namespaceIds,
  processEntry,
  programRun,
  record,
  sha256,
} from "./common.js";
import { desktopFacts } from "./facts.js";

/** session/plan.json: the launch plan as it was carried out. */
export const planRecord = record({ plan: z.record(z.string(), z.unknown()) });

/** session/report.json: what stage 2 said of itself from inside the pivoted root. */
export const reportRecord = record({
  /** Pid in its own namespace. */
  pid: z.int().positive(),
  /** Raw /proc/self/cgroup. */
  cgroup: z.string(),
  /** Raw /proc/self/mountinfo. */
  mountinfo: z.string(),
  namespaces: namespaceIds,
  uidMap: z.string(),
});

/** session/handshake.json: what the host saw of the same process, and when it said `go`. */
export const handshakeRecord = record({
  /** Host pid and start time of init. */
  initPid: z.int().positive(),
  startTime: decimal,
  /** The host's view of init's namespaces. */
  namespaces: namespaceIds,
  /** Null where the machine has no cgroup2 mount. */
  group: z
    .object({
      path: z.string(),
      /** As /proc/PID/cgroup names it, with a leading slash. */
      relative: z.string(),
      /** The probe's own group, named alike; the root of a cgroup namespace made by it. Default `/`. */
      ownPath: z.string().exactOptional(),
      /** cgroup.procs as the host read it before `go`. */
      procs: z.array(z.int().positive()),
      limits: z.object({
        enforced: z.boolean(),
        reason: z.string().nullable(),
        readBack: z.record(z.string(), z.unknown()),
      }),
    })
    .nullable(),
  checks: z.array(namedCheck),
  reportedMs: monotonic,
  goMs: monotonic,
});

/** session/overlay.json: the overlay's options read back from the kernel. */
export const overlayRecord = record({
  mountPoint: z.string(),
  index: z.boolean(),
  nfsExport: z.boolean(),
  fellBack: z.array(z.string()),
});

/** bus.json: a session's system bus. */
export const busRecord = record({
  /** The id that the daemon gives (GetId). Siblings share it: it is memory. */
  id: z.string(),
  names: z.array(z.string()),
  activatable: z.array(z.string()),
  /** What a call to a name that nobody owns came back with, and how long that took. */
  missingName: z.object({ error: z.string(), ms: z.number() }),
  /** The socket file inside the session. */
  socket: fileIdentity,
  /** The host's own socket file; null where the host has none. */
  hostSocket: z.object({
    path: z.string(),
    before: fileIdentity.nullable(),
    after: fileIdentity.nullable(),
  }),
});

/** The rules of a wait as data: enough to judge by them again. */
export const rulesSchema = z.object({
  /** Name of a rule set of @drums/readiness. */
  name: z.string(),
  /** The window that must be there: its class, word for word, and whether it must have the keyboard. */
  window: z.object({ class: z.string(), focused: z.boolean() }).exactOptional(),
});

/** readiness.json: the wait for a usable desktop. The verdict is computed again from the frames and facts.json. */
export const readinessRecord = record({
  verdict: z.object({ name: z.string(), ready: z.boolean(), reasons: z.array(z.string()) }),
  rules: rulesSchema,
  polls: z.int().positive(),
  waitedMs: z.number().nonnegative(),
});

/** facts.json: window facts as gathered over X11. */
export const factsRecord = record({ facts: desktopFacts });

/** token.json: a program's output, word for word, and its return code. */
export const tokenRecord = record({ ...programRun, value: z.string() });

/** identity.json: who a program of the session finds it is. */
export const identityRecord = record({
  ...programRun,
  /** The kernel's. */
  hostname: z.string(),
  /** 0 after a boot, one more with each restore since; as the session's file has it. */
  generation: z.string(),
  token: z.string(),
});

/** marker.json: a file in the session. */
export const markerRecord = record({ ...programRun, path: z.string(), content: z.string(), sha256 });

/** processes.json: every process of a session. */
export const processesRecord = record({ observedMs: monotonic, processes: z.array(processEntry) });
