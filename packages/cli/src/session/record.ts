import { z } from "zod";
import { leanNames } from "../recipes/lean.js";
import { identitySchema } from "./identity.js";
import { sessionLimitsSchema } from "./limits.js";

const layerSchema = z.object({
  /** What the layer is: a dumped upper, the X server's package, our init. */
  kind: z.enum(["upper", "deb", "init"]),
  path: z.string().startsWith("/"),
  /** sha256 over the layer's canonical listing; a restore refuses a layer that changed. */
  digest: z.string(),
  /** Mounted with the session's id map. A dumped upper is shifted already and goes without. */
  idmap: z.boolean(),
});

/** What a session is made of, whatever happens to it: kept with a checkpoint, repeated by its siblings. */
export const sessionSpecSchema = z.object({
  image: z.object({ path: z.string().startsWith("/"), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  desktop: z.string(),
  /** Pixels; absent is the standard size of a desktop. */
  /** What its programs were made lean by; absent is nothing. */
  lean: z.array(z.enum(leanNames)).optional(),
  screen: z.object({ width: z.int().positive(), height: z.int().positive() }).optional(),
  /** What makes the screen up; absent is Xvfb. */
  xServer: z.enum(["xvfb", "xorg-dummy"]).optional(),
  profile: z.enum(["hardened", "compat"]),
  /** Uppermost first; the root lies below them all. */
  layers: z.array(layerSchema),
  hostname: z.string(),
  /** The most that the upper holds; absent is as much as the disk. */
  upperBytes: z.number().int().positive().optional(),
  /** What its cgroup may use; absent is no limit. */
  limits: sessionLimitsSchema.optional(),
  /** It may live where its limits cannot be in force; absent is no. */
  allowUnlimited: z.boolean().optional(),
  /** The greatest pid inside; absent where the kernel has one for all. */
  pidMax: z.number().int().optional(),
  /** Setuid files work inside, sudo's among them; absent is no. */
  sudo: z.boolean().optional(),
  /** What its net namespace is connected to. `none`: lo alone. */
  network: z.enum(["none", "nat"]).default("none"),
  /** Its ports that the host reaches; each sibling has ports of the host of its own for them. */
  publish: z.array(z.number().int()).default([]),
  /** First host id of the session's user namespace; siblings keep their checkpoint's. */
  idBase: z.number().int().nonnegative().optional(),
});

const networkSchema = z.object({
  slirp: identitySchema,
  /** On the host's 127.0.0.1. */
  ports: z.array(z.object({ hostPort: z.number().int(), guestPort: z.number().int() })),
  /** How slirp4netns confines itself. */
  confinement: z.array(z.string()),
});

/** A sibling that is kept in a pool, until a fork takes it. */
const poolSchema = z.object({
  /** `filling`: being made; `warm`: stopped and waiting; `taking`: about to be an ordinary sibling. */
  state: z.enum(["filling", "warm", "taking"]),
  /** Who fills or takes it: if that one is dead, so is the sibling. */
  holder: identitySchema,
  /** Its processes in the order in which they were stopped. */
  stopped: z.array(identitySchema).default([]),
});

const lineageSchema = z.object({
  /** 0 where it was booted; one more with each restore on the way to it. */
  generation: z.number().int().nonnegative(),
  /** Random, of this session alone. */
  token: z.string(),
  /** The session that its checkpoint was made of. */
  parent: z.string().optional(),
});

/** `sessions/<id>/session.json`. */
export const sessionRecordSchema = z.object({
  version: z.literal(1),
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/),
  /** `booting` until readiness holds: its owner's death in that state means that the session is to be taken down. */
  state: z.enum(["booting", "running", "failed"]),
  createdAt: z.string(),
  owner: identitySchema,
  spec: sessionSpecSchema,
  init: identitySchema.optional(),
  /** Below the cgroup2 mount, where there is one. */
  cgroup: z.array(z.string()).optional(),
  /** Binds from outside that a dump must name and a restore must find again. */
  externals: z.array(z.object({ mountPoint: z.string(), key: z.string(), hostPath: z.string() })),
  /** Of the session's own slirp4netns, where it has a network. */
  network: networkSchema.optional(),
  /** The checkpoint that this sibling was restored from. */
  checkpoint: z.string().optional(),
  lineage: lineageSchema.optional(),
  pool: poolSchema.optional(),
});

export type SessionLayer = z.infer<typeof layerSchema>;
export type SessionNetwork = z.infer<typeof networkSchema>;
export type PoolMembership = z.infer<typeof poolSchema>;
export type Lineage = z.infer<typeof lineageSchema>;
export type SessionSpec = z.infer<typeof sessionSpecSchema>;
export type SessionRecord = z.infer<typeof sessionRecordSchema>;
