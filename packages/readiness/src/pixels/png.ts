import { promisify } from "node:util";
import { crc32, deflate } from "node:zlib";
import { PNG } from "pngjs";
import { ReadinessError } from "../errors.js";
import { assertFrame, type Frame, MAX_PIXELS } from "./frame.js";

const deflateAsync = promisify(deflate);
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The frame as an RGB PNG. Fast before small: no row filter, deflate level 1, and that off the main
 * thread. (pngjs with the same settings blocks for about 50 ms on 1280x800; this for about 5.)
 */
export async function encodePng(frame: Frame): Promise<Buffer> {
  const data = await deflateAsync(rgbRows(frame), { level: 1 });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(frame.width, 0);
  header.writeUInt32BE(frame.height, 4);
  header[8] = 8; // bits a sample
  header[9] = 2; // RGB
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The frame in a PNG of any kind. Throws BAD_PNG; a header that claims too many pixels is refused unread. */
export function decodePng(file: Buffer): Frame {
  if (file.length < 33 || !file.subarray(0, 8).equals(SIGNATURE)) throw badPng("no PNG signature and header");
  const width = file.readUInt32BE(16);
  const height = file.readUInt32BE(20);
  if (width * height > MAX_PIXELS) throw badPng(`a picture of ${width}x${height} is out of bounds`);
  try {
    const { data } = PNG.sync.read(file);
    return { width, height, pixels: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
  } catch (cause) {
    throw badPng(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** Scan lines, each behind its filter byte 0. */
function rgbRows(frame: Frame): Buffer {
  assertFrame(frame);
  const { width, height, pixels } = frame;
  const rows = Buffer.allocUnsafe((width * 3 + 1) * height);
  let to = 0;
  let from = 0;
  for (let y = 0; y < height; y++) {
    rows[to++] = 0;
    for (let x = 0; x < width; x++, from += 4) {
      rows[to++] = pixels[from] as number;
      rows[to++] = pixels[from + 1] as number;
      rows[to++] = pixels[from + 2] as number;
    }
  }
  return rows;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

function badPng(detail: string, cause?: unknown): ReadinessError {
  return new ReadinessError("BAD_PNG", `not a usable PNG: ${detail}`, {
    hint: "give a screenshot as a whole PNG file of at most 7680 x 4320 pixels",
    cause,
  });
}
