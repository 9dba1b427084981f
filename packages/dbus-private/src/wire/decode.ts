import { type DbusType, parseSignature, protocol } from "./signature.js";
import { ALIGNMENT, type DbusValue } from "./values.js";

/** Variants in variants; the specification allows 64 in all. */
const MAX_VARIANT_DEPTH = 32;
/** Arrays of small elements make many values of few bytes. */
const MAX_VALUES = 1 << 18;

/**
 * Reads values out of a message. The bytes are a stranger's: every read is checked against the end, and depth
 * and number of values are bounded.
 */
export class Decoder {
  readonly #text = new TextDecoder("utf-8", { fatal: true });
  #at = 0;
  #values = 0;
  #variants = 0;

  constructor(
    readonly bytes: Buffer,
    readonly littleEndian: boolean,
  ) {}

  /** Whether all of it was read. */
  get done(): boolean {
    return this.#at === this.bytes.length;
  }

  /** Reads one value for each complete type of a signature. */
  values(signature: string): DbusValue[] {
    return parseSignature(signature).map((type) => this.#value(type));
  }

  /** Skips to the next multiple of `alignment`; what is skipped must be zeros. */
  align(alignment: number): void {
    const target = Math.ceil(this.#at / alignment) * alignment;
    for (const byte of this.#take(target - this.#at)) if (byte !== 0) throw protocol("padding is not zero");
  }

  #value(type: DbusType): DbusValue {
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw protocol("too many values");
    switch (type.kind) {
      case "basic":
        return this.#basic(type.code);
      case "variant":
        return this.#variant();
      case "array":
        return this.#array(type.element);
      case "struct":
        this.align(8);
        return type.fields.map((field) => this.#value(field));
      case "entry":
        this.align(8);
        return [this.#value(type.key), this.#value(type.value)];
    }
  }

  #variant(): DbusValue {
    const signature = this.#signature();
    const [type, more] = parseSignature(signature);
    if (type === undefined || more !== undefined) throw protocol("a variant does not hold one value");
    this.#variants += 1;
    if (this.#variants > MAX_VARIANT_DEPTH) throw protocol("variants are nested too deep");
    const value = this.#value(type);
    this.#variants -= 1;
    return { signature, value };
  }

  #array(element: DbusType): DbusValue {
    const length = this.#number("u");
    this.align(alignmentOf(element));
    const end = this.#at + length;
    if (end > this.bytes.length) throw protocol("an array is longer than its message");
    if (element.kind === "basic" && element.code === "y") return Buffer.from(this.#take(length));
    const items: DbusValue[] = [];
    while (this.#at < end) items.push(this.#value(element));
    if (this.#at !== end) throw protocol("an array does not end where it says");
    return items;
  }

  #basic(code: string): DbusValue {
    switch (code) {
      case "s":
      case "o":
        return this.#string(this.#number("u"));
      case "g":
        return this.#signature();
      case "b":
        return this.#boolean();
      case "x":
      case "t":
        return this.#bigint(code);
      default:
        return this.#number(code);
    }
  }

  #signature(): string {
    return this.#string(this.#number("y"));
  }

  #boolean(): boolean {
    const value = this.#number("u");
    if (value > 1) throw protocol("a boolean is neither 0 nor 1");
    return value === 1;
  }

  #string(length: number): string {
    const bytes = this.#take(length);
    if (this.#take(1)[0] !== 0 || bytes.includes(0)) throw protocol("a string does not end where it says");
    try {
      return this.#text.decode(bytes);
    } catch {
      throw protocol("a string is not UTF-8");
    }
  }

  #bigint(code: "x" | "t"): bigint {
    this.align(8);
    const bytes = this.#take(8);
    if (code === "x") return this.littleEndian ? bytes.readBigInt64LE() : bytes.readBigInt64BE();
    return this.littleEndian ? bytes.readBigUInt64LE() : bytes.readBigUInt64BE();
  }

  #number(code: string): number {
    const size = ALIGNMENT[code] ?? 1;
    this.align(size);
    const bytes = this.#take(size);
    if (code === "d") return this.littleEndian ? bytes.readDoubleLE() : bytes.readDoubleBE();
    const signed = code === "n" || code === "i";
    if (signed) return this.littleEndian ? bytes.readIntLE(0, size) : bytes.readIntBE(0, size);
    return this.littleEndian ? bytes.readUIntLE(0, size) : bytes.readUIntBE(0, size);
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.bytes.length) throw protocol("a value goes beyond its message");
    const taken = this.bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

function alignmentOf(type: DbusType): number {
  if (type.kind === "basic") return ALIGNMENT[type.code] ?? 1;
  if (type.kind === "array") return 4;
  return type.kind === "variant" ? 1 : 8;
}
