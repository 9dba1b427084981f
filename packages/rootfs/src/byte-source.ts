/** Bytes of a stream by count, never more in memory than one chunk of it and what is asked for. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Up to `limit` bytes, at least one unless the stream has ended. */
  async some(limit: number): Promise<Buffer> {
    if (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done) return Buffer.alloc(0);
      this.#rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    }
    const bytes = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(bytes.length);
    return bytes;
  }

  /** Exactly `length` bytes, or fewer at the stream's end. */
  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; ) {
      const bytes = await this.some(left);
      if (bytes.length === 0) break;
      parts.push(bytes);
      left -= bytes.length;
    }
    return Buffer.concat(parts);
  }
}
