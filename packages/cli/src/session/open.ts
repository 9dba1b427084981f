import type { Socket } from "node:net";
import { type BusConnection, openBus } from "@drums/dbus-private";
import { connectInit, type InitClient, openSessionRoot, type SessionRoot } from "@drums/nsexec";
import {
  connectX,
  type DesktopFacts,
  type Frame,
  gatherFacts,
  readScreen,
  type XSession,
} from "@drums/readiness";
import { DrumsError, EXIT } from "../errors.js";
import { findXServer } from "../recipes/find.js";
import { FrameParser } from "./frame-parser.js";
import { RANGE_SIZE } from "./id-range.js";
import { INSIDE, USER } from "./paths.js";
import type { SessionRecord } from "./record.js";

/** A frame is at most 7680×4320 at 4 bytes a pixel, and a header: more is not a framebuffer. */
const MAX_FRAME_BYTES = 7680 * 4320 * 4 + 65536;

/**
 * A live session as the host may touch it: files and sockets through `root` (never by plain paths),
 * programs through init. Everything that it answers is the session's own word.
 */
export interface LiveSession {
  readonly record: SessionRecord;
  readonly root: SessionRoot;
  /** Runs with a connection to init, which is closed afterwards: none may be open at a dump. */
  withInit<T>(use: (init: InitClient) => Promise<T>): Promise<T>;
  /** Runs with a connection to the X server, closed afterwards for the same reason. */
  withX<T>(use: (x: XSession) => Promise<T>): Promise<T>;
  /**
   * The screen in XWD format: the X server's framebuffer file as it is, the cheapest picture there is; of a server
   * without one what it says, without the cursor.
   */
  rawFrame(): Promise<Buffer>;
  /** The same as a frame. */
  frame(): Promise<Frame>;
  facts(): Promise<DesktopFacts>;
  connectBus(options?: { readonly uid?: number; readonly gid?: number }): Promise<Socket>;
  /** Connects to the session bus at a path as the desktop's user. */
  connectSessionBus(path: string): Promise<Socket>;
  /** The same, greeted by the bus. The caller closes it: none may be open at a dump. */
  openSessionBus(path: string): Promise<BusConnection>;
  close(): void;
}

/**
 * Opens a session whose init lives.
 * @param options.frames  shared by sessions that show the same picture; default one of its own
 * @throws DrumsError SESSION_DEAD where it does not, or where its pid is another process by now; SESSION_POOLED
 */
export async function openSession(
  record: SessionRecord,
  { frames = new FrameParser() }: { readonly frames?: FrameParser } = {},
): Promise<LiveSession> {
  assertAwake(record);
  if (record.init === undefined) throw dead(record, "its init was never started");
  const { pid, startTime } = record.init;
  const { idBase } = record.spec;
  // What answers in a shifted session must be one of its own ids: a socket it replaced may lead elsewhere.
  const peer = idBase === undefined ? {} : { peerUids: { first: idBase, count: RANGE_SIZE } };
  const root = await openSessionRoot({ pid, startTime: BigInt(startTime) }).catch((cause: unknown) => {
    throw dead(record, `its init (pid ${pid}) is gone`, cause);
  });
  const withX = async <T>(use: (x: XSession) => Promise<T>): Promise<T> => {
    const x = await connectX(await root.connectStream(INSIDE.x, peer));
    try {
      return await use(x);
    } finally {
      x.close();
    }
  };
  const { frameFile } = findXServer(record.spec.xServer ?? "xvfb");
  const rawFrame = () =>
    frameFile === undefined ? withX(readScreen) : root.readFile(frameFile, { maxBytes: MAX_FRAME_BYTES });
  const asUser = { uid: USER.uid + (idBase ?? 0), gid: USER.gid + (idBase ?? 0) };
  const connectSessionBus = (path: string) => root.connectStream(path, { ...asUser, ...peer });
  return {
    record,
    root,
    withX,
    withInit: async (use) => {
      const init = await connectInit(root, peer);
      try {
        return await use(init);
      } finally {
        await init.close();
      }
    },
    rawFrame,
    frame: async () => frames.parse(await rawFrame()),
    facts: () => withX(gatherFacts),
    connectSessionBus,
    openSessionBus: (path) => openBus(() => connectSessionBus(path), { uid: USER.uid }),
    connectBus: (options = {}) => root.connectStream(INSIDE.bus, { ...options, ...peer }),
    close: () => root.close(),
  };
}

/** Refuses a sibling that is stopped in a pool: nothing of it answers. @throws DrumsError SESSION_POOLED */
export function assertAwake({ id, checkpoint, pool }: SessionRecord): void {
  if (pool?.state !== "warm") return;
  throw new DrumsError({
    code: "SESSION_POOLED",
    exitCode: EXIT.usage,
    what: `session ${id} is stopped in the pool of ${checkpoint}`,
    hint: `\`drums fork ${checkpoint}\` takes one from the pool`,
  });
}

function dead(record: SessionRecord, why: string, cause?: unknown): DrumsError {
  return new DrumsError({
    code: "SESSION_DEAD",
    exitCode: EXIT.usage,
    what: `session ${record.id} is not running`,
    why,
    hint: "`drums gc` takes down what is left of it",
    cause,
  });
}
