import { DbusError } from "../errors.js";
import { ALIGNMENT, type DbusVariant } from "./values.js";

/**
 * Writes the values that our own calls carry, little-endian. Only what they need: bytes, 32-bit numbers, strings,
 * and a variant of one of these.
 */
export class Encoder {
  readonly #parts: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Pads with zeros to a multiple of `alignment`. */
  align(alignment: number): this {
    return this.#push(Buffer.alloc((alignment - (this.#length % alignment)) % alignment));
  }

  byte(value: number): this {
    return this.#push(Buffer.from([value]));
  }

  uint32(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    return this.align(ALIGNMENT.u ?? 4).#push(bytes);
  }

  /** A string or an object path. */
  string(value: string): this {
    checkNoNul(value);
    const bytes = Buffer.from(value);
    return this.uint32(bytes.length).#push(bytes).byte(0);
  }

  signature(value: string): this {
    checkNoNul(value);
    return this.byte(value.length).#push(Buffer.from(value, "ascii")).byte(0);
  }

  /** A variant that holds a string, a boolean or a 32-bit number. */
  variant({ signature, value }: DbusVariant): this {
    this.signature(signature);
    if (signature === "b" && typeof value === "boolean") return this.uint32(value ? 1 : 0);
    if ((signature === "s" || signature === "o") && typeof value === "string") return this.string(value);
    if (signature === "u" && typeof value === "number") return this.uint32(value);
    throw new DbusError("PROTOCOL", `a variant of ${signature} is not written here`, {
      hint: "give a variant of s, o, b or u with a value of that type",
    });
  }

  /** Appends bytes as they are. */
  raw(bytes: Buffer): this {
    return this.#push(bytes);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #push(bytes: Buffer): this {
    this.#parts.push(bytes);
    this.#length += bytes.length;
    return this;
  }
}

function checkNoNul(value: string): void {
  if (value.includes("\0"))
    throw new DbusError("PROTOCOL", "a D-Bus string cannot hold a NUL character", { hint: "give another" });
}
