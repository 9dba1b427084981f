import type { Duplex } from "node:stream";
import { DbusError } from "../errors.js";
import { protocol } from "./signature.js";

/**
 * Reads exact numbers of bytes and lines from a stream. It takes from the stream only while something waits for
 * bytes, so that a peer that floods fills the socket's buffer and not our memory.
 */
export class ByteReader {
  #chunks: Buffer[] = [];
  #buffered = 0;

  constructor(readonly stream: Duplex) {}

  /** The next `length` bytes. */
  async take(length: number): Promise<Buffer> {
    while (this.#buffered < length) await this.#more();
    const all = Buffer.concat(this.#chunks);
    this.#keep(all.subarray(length));
    return all.subarray(0, length);
  }

  /** The next line without its CR LF. */
  async line(maxBytes: number): Promise<string> {
    for (;;) {
      const all = Buffer.concat(this.#chunks);
      const end = all.indexOf("\r\n");
      if (end > maxBytes || (end < 0 && all.length > maxBytes)) throw protocol("a line is too long");
      if (end >= 0) {
        this.#keep(all.subarray(end + 2));
        return all.toString("latin1", 0, end);
      }
      this.#keep(all);
      await this.#more();
    }
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#buffered = rest.length;
  }

  async #more(): Promise<void> {
    for (;;) {
      const chunk: Buffer | null = this.stream.read();
      if (chunk !== null) {
        this.#chunks.push(chunk);
        this.#buffered += chunk.length;
        return;
      }
      if (this.stream.readableEnded || this.stream.destroyed) throw closed(this.stream.errored);
      await readableOrOver(this.stream);
    }
  }
}

function readableOrOver(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const events = ["readable", "end", "close", "error"] as const;
    const done = () => {
      for (const event of events) stream.off(event, done);
      resolve();
    };
    for (const event of events) stream.on(event, done);
  });
}

/** The peer is gone. */
export function closed(cause?: unknown): DbusError {
  return new DbusError("CLOSED", "the peer closed the connection", {
    hint: "read the bus's log: it may have ended, or have refused this user",
    cause: cause ?? undefined,
  });
}
