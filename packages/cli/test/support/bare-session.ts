import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProfileName } from "@drums/nsexec";
import { mountRoot } from "@drums/rootfs";
import { tinyRoot } from "../../../criu/test/helpers/session.js";
import { createHome, type Home, homeAt } from "../../src/home.js";
import { initLayer } from "../../src/layers/init.js";
import { type LaunchInput, launchInit } from "../../src/session/boot/launch.js";
import type { BootObserver } from "../../src/session/boot/steps.js";
import { newLineage } from "../../src/session/clone-identity.js";
import { createSessionGroup } from "../../src/session/group.js";
import { identify } from "../../src/session/identity.js";
import type { LimitRequest } from "../../src/session/limits.js";
import { type LiveSession, openSession } from "../../src/session/open.js";
import type { SessionRecord } from "../../src/session/record.js";
import { removeSession } from "../../src/session/remove.js";
import {
  createSessionFolder,
  listSessionIds,
  type SessionFolder,
  sessionFolder,
} from "../../src/session/store.js";

/** A home whose sessions have a shell for a desktop: all of the launch is real, and it takes no image. */
export interface BareHome {
  readonly home: Home;
  /** What a session is launched with: its folder, root and group stand. */
  prepare(options?: BareOptions): Promise<Prepared>;
  /** A session whose init said that it listens. */
  launch(options?: BareOptions): Promise<LiveSession>;
}

export interface BareOptions extends LimitRequest {
  /** Default `hardened`. */
  readonly profile?: ProfileName;
  readonly observe?: BootObserver;
}

export interface Prepared {
  readonly input: LaunchInput;
  readonly record: SessionRecord;
  readonly folder: SessionFolder;
}

const ID_BASE = 0x4000_0000;

/** Gives the body such a home, and takes down all that it left. */
export async function withBareHome(body: (bare: BareHome) => Promise<void>): Promise<void> {
  const path = await mkdtemp(join(tmpdir(), "drums-bare-"));
  const home = await createHome(homeAt(join(path, "home")));
  const root = join(path, "root");
  await tinyRoot(root);
  for (const folder of ["etc", "sys", "run", "var/tmp"]) await mkdir(join(root, folder), { recursive: true });
  const prepare = (options: BareOptions = {}) => prepareIn(home, root, options);
  const launch = async (options: BareOptions = {}) => {
    const { input, record, folder } = await prepare(options);
    const { initPid, startTime, externals, group } = await launchInit(input, options.observe);
    const booted: SessionRecord = {
      ...record,
      state: "running",
      init: { pid: initPid, startTime: String(startTime) },
      externals: [...externals],
      ...(group && { cgroup: [...group.parts] }),
    };
    await folder.write(booted);
    return openSession(booted);
  };
  try {
    await body({ home, prepare, launch });
  } finally {
    for (const id of await listSessionIds(home)) await removeSession(home, sessionFolder(home, id));
    await rm(path, { recursive: true, force: true });
  }
}

async function prepareIn(
  home: Home,
  image: string,
  { profile = "hardened", limits, allowUnlimited }: BareOptions,
): Promise<Prepared> {
  const folder = await createSessionFolder(home, "bare");
  const init = await initLayer({ home });
  const record: SessionRecord = {
    version: 1,
    id: folder.id,
    state: "booting",
    createdAt: new Date().toISOString(),
    owner: await identify(process.pid),
    spec: {
      image: { path: image, sha256: "0".repeat(64) },
      desktop: "openbox",
      profile,
      layers: [{ kind: "init", path: init.path, digest: init.digest, idmap: true }],
      hostname: "bare",
      network: "none",
      publish: [],
      ...(profile === "hardened" && { idBase: ID_BASE }),
      ...(limits && { limits }),
      ...(allowUnlimited && { allowUnlimited }),
    },
    externals: [],
    lineage: newLineage(),
  };
  await folder.write(record);
  const root = await mountRoot({ image, stateDir: home.path, holder: folder.id });
  const group = await createSessionGroup(folder, record.spec);
  return { input: { spec: record.spec, folder, root, group }, record, folder };
}
