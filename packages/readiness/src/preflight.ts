import { endianness } from "node:os";
import { decodePng, encodePng } from "./pixels/png.js";

/** One thing that this machine can or cannot do. A gap or blocker always has a remedy. */
export interface PreflightItem {
  readonly name: string;
  readonly status: "ok" | "gap" | "blocker";
  readonly detail: string;
  readonly remedy?: string;
}

export interface PreflightOptions {
  /** Default: that of this process. */
  readonly nodeVersion?: string;
  /** Default: that of this machine. */
  readonly byteOrder?: "LE" | "BE";
}

const NEEDED_NODE = [20, 15] as const; // zlib.crc32

/** What readiness itself needs: pixels and X11 are read in plain JavaScript, so no program is asked for. */
export async function preflight(options: PreflightOptions = {}): Promise<PreflightItem[]> {
  const { nodeVersion = process.versions.node, byteOrder = endianness() } = options;
  return [nodeItem(nodeVersion), byteOrderItem(byteOrder), await pngItem()];
}

function nodeItem(version: string): PreflightItem {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNewEnough = major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1]);
  if (isNewEnough) return { name: "Node", status: "ok", detail: `version ${version}` };
  return {
    name: "Node",
    status: "blocker",
    detail: `version ${version} is older than ${NEEDED_NODE.join(".")}`,
    remedy: "install Node 20.15 or newer",
  };
}

function byteOrderItem(order: "LE" | "BE"): PreflightItem {
  if (order === "LE") return { name: "byte order", status: "ok", detail: "little-endian" };
  return {
    name: "byte order",
    status: "blocker",
    detail: "big-endian: pixels are read as little-endian words",
    remedy: "run drums on x86-64 or arm64",
  };
}

async function pngItem(): Promise<PreflightItem> {
  const frame = { width: 1, height: 1, pixels: new Uint8Array([1, 2, 3, 255]) };
  const back = decodePng(await encodePng(frame));
  const isSame = Buffer.compare(back.pixels, frame.pixels) === 0;
  if (isSame) return { name: "PNG", status: "ok", detail: "a pixel written and read back" };
  return {
    name: "PNG",
    status: "blocker",
    detail: "a pixel came back changed",
    remedy: "reinstall the packages: pngjs or Node's zlib is not what it should be",
  };
}
