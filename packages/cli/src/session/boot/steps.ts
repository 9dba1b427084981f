import type { Group, Membership } from "@drums/cgroup2";
import type { External, LaunchPlan, StageTwoReport } from "@drums/nsexec";
import type { NamespaceId, NamespaceKind } from "@drums/nsexec/proc";
import type { WaitResult } from "@drums/readiness";
import type { ImageDigest, MountedRoot, OverlayReport } from "@drums/rootfs";
import type { InitLayer } from "../../layers/init.js";
import type { XServerLayer } from "../../layers/x-server.js";
import type { XServerRecipe } from "../../recipes/types.js";
import type { SessionBus } from "../bus.js";
import type { LiveSession } from "../open.js";
import type { SessionFolder } from "../store.js";
import type { Check } from "./handshake.js";

/** Runs a named piece of work; a progress display or an evidence log stands behind it. */
export type Step = <T>(name: string, body: () => Promise<T>) => Promise<T>;

/** Runs the body and tells nobody. */
export const quietly: Step = (_name, body) => body();

/** What the host saw at the handshake, before it wrote `go`. */
export interface Handshake {
  readonly initPid: number;
  readonly startTime: bigint;
  readonly report: StageTwoReport;
  /** Init's mount table and namespaces as the host reads them. */
  readonly mountinfo: string;
  readonly namespaces: Readonly<Record<NamespaceKind, NamespaceId>>;
  readonly group: Group | undefined;
  /** The group's cgroup.procs as read before `go`. */
  readonly procs: readonly number[];
  readonly membership: Membership | undefined;
  readonly overlay: OverlayReport;
  readonly checks: readonly Check[];
  readonly externals: readonly External[];
  /** CLOCK_MONOTONIC, milliseconds. */
  readonly reportedMs: number;
  readonly goMs: number;
}

/** An image file whose sha256 was computed, and compared where one was given. */
export interface VerifiedImage extends ImageDigest {
  readonly path: string;
}

/** The read-only folders above a root, with what they were made from. */
export interface Layered {
  readonly root: MountedRoot;
  readonly xServer: { readonly recipe: XServerRecipe; readonly layer: XServerLayer };
  readonly init: InitLayer;
}

/** Hears of each fact of a boot at the moment it is known; what it throws ends the boot. */
export interface BootObserver {
  created?(folder: SessionFolder): Promise<void>;
  verified?(image: VerifiedImage): Promise<void>;
  mounted?(root: MountedRoot): Promise<void>;
  layered?(layers: Layered): Promise<void>;
  planned?(plan: LaunchPlan): Promise<void>;
  reported?(report: StageTwoReport): Promise<void>;
  shook?(handshake: Handshake): Promise<void>;
  bused?(live: LiveSession, bus: SessionBus): Promise<void>;
  /** The boot failed with its init alive: the last moment at which its logs can be read. */
  failed?(live: LiveSession): Promise<void>;
  judged?(ready: WaitResult): Promise<void>;
}
