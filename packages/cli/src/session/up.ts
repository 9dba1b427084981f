import { resolve } from "node:path";
import {
  hasOwnPidMax,
  type PortRequest,
  type ProfileName,
  SESSION_PID_MAX,
  type SessionPlan,
} from "@drums/nsexec";
import type { WaitResult } from "@drums/readiness";
import { digestImage, type MountedRoot, mountRoot, verifyImage } from "@drums/rootfs";
import { DrumsError, EXIT } from "../errors.js";
import type { Home } from "../home.js";
import { initLayer } from "../layers/init.js";
import { xServerLayer } from "../layers/x-server.js";
import { withLock } from "../lock.js";
import { findDesktop } from "../recipes/find.js";
import type { LeanRequest } from "../recipes/lean.js";
import type { DesktopRecipe, ScreenRequest } from "../recipes/types.js";
import { startDesktop } from "./boot/desktop.js";
import { launchInit } from "./boot/launch.js";
import { sessionPlan } from "./boot/plan.js";
import { awaitReady } from "./boot/ready.js";
import { type BootObserver, quietly, type Step, type VerifiedImage } from "./boot/steps.js";
import { type SessionBus, startBus } from "./bus.js";
import { introduce, newLineage } from "./clone-identity.js";
import { createSessionGroup } from "./group.js";
import { nextIdBase } from "./id-range.js";
import { identify } from "./identity.js";
import { assertLimitsAvailable, type LimitRequest } from "./limits.js";
import { connectNetwork } from "./network.js";
import { type LiveSession, openSession } from "./open.js";
import type { SessionLayer, SessionRecord, SessionSpec } from "./record.js";
import { removeSession } from "./remove.js";
import { createSessionFolder, type SessionFolder } from "./store.js";

/** What is asked of a new session. */
export interface UpRequest extends LeanRequest, LimitRequest, ScreenRequest {
  /** Path of the image file. */
  readonly image: string;
  /** The sha256 that the image must have; without one it is computed and recorded. */
  readonly expectedSha256?: string | undefined;
  readonly desktop: string;
  /** Default `hardened`. */
  readonly profile?: ProfileName;
  /** Let setuid files, sudo's among them, give rights inside. Default false. */
  readonly sudo?: boolean;
  /** The most that the session's upper may hold, and each sibling's. Default: as much as the disk. */
  readonly upperBytes?: number | undefined;
  /** `nat`: connected by slirp4netns, the host's loopback closed. Default `none`: lo alone. */
  readonly network?: SessionSpec["network"];
  /** Ports of the session to reach from the host's 127.0.0.1; only with a network. Default: none. */
  readonly publish?: readonly PortRequest[];
}

/** How a session is brought up. */
export interface UpOptions {
  readonly step?: Step;
  readonly observe?: BootObserver;
  readonly signal?: AbortSignal | undefined;
}

/** A session whose desktop is usable. The caller closes `live`; the session itself outlives this process. */
export interface UpResult {
  readonly folder: SessionFolder;
  readonly live: LiveSession;
  readonly bus: SessionBus;
  readonly ready: WaitResult;
}

/**
 * Brings a desktop up from an image: verified image, read-only root, layers, handshake, network where asked for,
 * private bus, X server, desktop, readiness. Whatever fails or is aborted, everything is taken down before the error
 * is thrown.
 * @throws DrumsError NOT_READY with the verdict's reasons; what each part throws
 */
export async function upSession(home: Home, request: UpRequest, options: UpOptions = {}): Promise<UpResult> {
  const { boot, image, folder } = await beginBoot(home, request, options);
  try {
    await options.observe?.created?.(folder);
    const first = await withLock(home, "id-ranges", () => boot.firstRecord(image, request));
    return await boot.run(first, request.publish);
  } catch (error) {
    await boot.abandon();
    throw error;
  }
}

/**
 * The plan that {@link upSession} would carry out, made of the real image and layers. Nothing is started, and the
 * session's folder and its hold on the image are gone when this returns.
 */
export async function planSession(
  home: Home,
  request: UpRequest,
  options: UpOptions = {},
): Promise<SessionPlan> {
  const { boot, image } = await beginBoot(home, request, options);
  try {
    return await boot.plan(await withLock(home, "id-ranges", () => boot.firstRecord(image, request)));
  } finally {
    await boot.abandon();
  }
}

/** A boot of a pinned image in a folder of its own, with nothing done yet. */
async function beginBoot(home: Home, request: UpRequest, options: UpOptions) {
  const { step = quietly, observe = {}, signal } = options;
  const desktop = findDesktop(request.desktop, request);
  await assertLimitsAvailable(request);
  const image = await step("image", () => pinImage(home, request, observe));
  const folder = await createSessionFolder(home, desktop.name);
  return { boot: new Boot(home, folder, desktop, { step, observe, signal }), image, folder };
}

/** The digest of the image as it is now; compared where the caller knows what it must be. */
async function pinImage(
  home: Home,
  { image, expectedSha256 }: UpRequest,
  observe: BootObserver,
): Promise<VerifiedImage> {
  const path = resolve(image);
  const options = { cacheDir: home.cache };
  const digest =
    expectedSha256 === undefined
      ? await digestImage(path, options)
      : await verifyImage(path, { ...options, expected: expectedSha256 });
  await observe.verified?.({ ...digest, path });
  return { ...digest, path };
}

class Boot {
  readonly #home: Home;
  readonly #folder: SessionFolder;
  readonly #desktop: DesktopRecipe;
  readonly #options: Required<Pick<UpOptions, "step" | "observe">> & Pick<UpOptions, "signal">;
  #live: LiveSession | undefined;

  constructor(
    home: Home,
    folder: SessionFolder,
    desktop: DesktopRecipe,
    options: Required<Pick<UpOptions, "step" | "observe">> & Pick<UpOptions, "signal">,
  ) {
    this.#home = home;
    this.#folder = folder;
    this.#desktop = desktop;
    this.#options = options;
  }

  async firstRecord({ path, sha256 }: VerifiedImage, request: UpRequest): Promise<SessionRecord> {
    const { profile = "hardened", sudo = false, network = "none", publish = [] } = request;
    const { upperBytes, limits, allowUnlimited, screen, xServer, lean } = request;
    const record: SessionRecord = {
      version: 1,
      id: this.#folder.id,
      state: "booting",
      createdAt: new Date().toISOString(),
      owner: await identify(process.pid),
      spec: {
        image: { path, sha256 },
        desktop: this.#desktop.name,
        ...(screen && { screen }),
        ...(xServer && { xServer }),
        ...(lean && { lean: [...lean] }),
        profile,
        layers: [],
        hostname: "drums",
        ...(hasOwnPidMax() && { pidMax: SESSION_PID_MAX }),
        ...(sudo && { sudo }),
        ...(upperBytes !== undefined && { upperBytes }),
        ...(limits && { limits }),
        ...(allowUnlimited && { allowUnlimited }),
        network,
        publish: publish.map(({ guestPort }) => guestPort),
        ...(profile === "hardened" && { idBase: await nextIdBase(this.#home) }),
      },
      externals: [],
      lineage: newLineage(),
    };
    await this.#folder.write(record);
    return record;
  }

  async #stack(first: SessionRecord): Promise<{ record: SessionRecord; root: MountedRoot }> {
    const root = await this.#step("mount", () => this.#holdRoot(first));
    const layers = await this.#step("layers", () => this.#layers(root));
    return { record: { ...first, spec: { ...first.spec, layers } }, root };
  }

  async plan(first: SessionRecord): Promise<SessionPlan> {
    const { record, root } = await this.#stack(first);
    return sessionPlan({ spec: record.spec, folder: this.#folder, root });
  }

  async run(first: SessionRecord, publish: readonly PortRequest[] = []): Promise<UpResult> {
    const { record, root } = await this.#stack(first);
    const launched = await this.#step("boot", () => this.#boot(record, root));
    const booted = await this.#connect(launched, publish);
    const live = await openSession(booted);
    this.#live = live;
    await introduce(live);
    const bus = await this.#step("bus", async () => {
      const started = await startBus(live);
      await this.#options.observe.bused?.(live, started);
      return started;
    });
    const ready = await this.#step("readiness", () => this.#desktopReady(live));
    await this.#folder.write({ ...booted, state: "running" });
    return { folder: this.#folder, live: { ...live, record: { ...booted, state: "running" } }, bus, ready };
  }

  async abandon(): Promise<void> {
    if (this.#live !== undefined) await this.#options.observe.failed?.(this.#live);
    this.#live?.close();
    await removeSession(this.#home, this.#folder);
  }

  #step<T>(name: string, body: () => Promise<T>): Promise<T> {
    this.#options.signal?.throwIfAborted();
    return this.#options.step(name, body);
  }

  async #holdRoot({ spec }: SessionRecord): Promise<MountedRoot> {
    const root = await mountRoot({
      image: spec.image.path,
      stateDir: this.#home.path,
      holder: this.#folder.id,
    });
    await this.#options.observe.mounted?.(root);
    return root;
  }

  async #layers(root: MountedRoot): Promise<SessionLayer[]> {
    const recipe = this.#desktop.xServer;
    const layer = await xServerLayer({ home: this.#home, root: root.path, xServer: recipe.name });
    const init = await initLayer({ home: this.#home });
    await this.#options.observe.layered?.({ root, xServer: { recipe, layer }, init });
    return [
      { kind: "init", path: init.path, digest: init.digest, idmap: true },
      { kind: "deb", path: layer.path, digest: layer.digest, idmap: true },
    ];
  }

  async #boot(record: SessionRecord, root: MountedRoot): Promise<SessionRecord> {
    const { observe } = this.#options;
    const group = await createSessionGroup(this.#folder, record.spec);
    const handshake = await launchInit({ spec: record.spec, folder: this.#folder, root, group }, observe);
    const booted: SessionRecord = {
      ...record,
      init: { pid: handshake.initPid, startTime: String(handshake.startTime) },
      externals: [...handshake.externals],
      ...(group && { cgroup: [...group.parts] }),
    };
    await this.#folder.write(booted);
    return booted;
  }

  async #connect(booted: SessionRecord, publish: readonly PortRequest[]): Promise<SessionRecord> {
    const { init, spec } = booted;
    if (spec.network === "none" || init === undefined) return booted;
    const target = { pid: init.pid, startTime: BigInt(init.startTime) };
    return this.#step("network", async () => {
      const network = await connectNetwork(this.#folder, target, publish);
      await this.#folder.write({ ...booted, network });
      return { ...booted, network };
    });
  }

  async #desktopReady(live: LiveSession): Promise<WaitResult> {
    const { signal } = this.#options;
    await startDesktop(live, this.#desktop, { signal });
    const ready = await awaitReady(live, this.#desktop, { leaveOverview: true, signal });
    await this.#options.observe.judged?.(ready);
    if (ready.verdict.ready) return ready;
    throw notReady(live, ready);
  }
}

function notReady(live: LiveSession, { verdict, elapsedMs }: WaitResult): DrumsError {
  return new DrumsError({
    code: "NOT_READY",
    exitCode: EXIT.verdictFailed,
    what: `the desktop of session ${live.record.id} is not usable: ${verdict.name}`,
    why: `${verdict.reasons.join("; ")} (after ${Math.round(elapsedMs)} ms)`,
    hint: "the probe keeps the screen, the window facts and the logs of such a run as evidence",
  });
}
