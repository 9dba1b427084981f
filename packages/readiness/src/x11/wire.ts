import type { Duplex } from "node:stream";
import { ReadinessError } from "../errors.js";
import { MAX_SETUP_BYTES, parseSetup, setupLength, setupRequest, type XAuth, type XSetup } from "./setup.js";

export interface WireOptions {
  readonly timeoutMs: number;
  readonly maxReplyBytes: number;
  readonly auth?: XAuth;
}

interface Pending {
  readonly sequence: number;
  /** A void request is answered only by an error; that a later one was answered is its success. */
  readonly isVoid: boolean;
  readonly deadline: number;
  resolve(reply: Buffer): void;
  reject(error: unknown): void;
}

const PACKET_BYTES = 32;
const ERROR = 0;
const REPLY = 1;
const GENERIC_EVENT = 35;
const LAST_SETUP_STATUS = 2; // failed, success, authenticate
const MAX_PENDING = 16_384;
/** A server that sends more events than this without answering anything is flooding us. */
const MAX_UNASKED_PACKETS = 65_536;
const NOTHING = Buffer.alloc(0);

/**
 * The X11 wire: frames packets, pairs replies with requests, and gives up by a deadline. The server is
 * hostile ground: sizes, counts and time are bounded, and what breaks the protocol ends the connection
 * with a typed error, never with an exception in a socket's event handler.
 */
export class XWire {
  readonly setup: Promise<XSetup>;
  readonly #socket: Duplex;
  readonly #options: WireOptions;
  readonly #pending: Pending[] = [];
  readonly #listeners = new Set<(event: Buffer) => void>();
  #chunks: Buffer[] = [];
  #buffered = 0;
  #sequence = 0;
  #unasked = 0;
  #failure: ReadinessError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #setUp: { resolve(setup: XSetup): void; reject(error: unknown): void } | undefined;

  constructor(socket: Duplex, options: WireOptions) {
    this.#socket = socket;
    this.#options = options;
    this.setup = new Promise((resolve, reject) => {
      this.#setUp = { resolve, reject };
    });
    this.setup.catch(() => {}); // whoever awaits it sees it; a wire that nobody awaits must not end the process
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", (cause) => this.fail(gone(cause)));
    socket.on("end", () => this.fail(gone()));
    socket.on("close", () => this.fail(gone()));
    this.#armTimer(performance.now() + options.timeoutMs);
    this.#write(setupRequest(options.auth));
  }

  /** Sends a request that has a reply; the promise gives the whole reply packet. */
  request(packet: Buffer): Promise<Buffer> {
    return this.#send(packet, false);
  }

  /** Sends a request without a reply. Resolves once a later request was answered; rejects on an X error. */
  command(packet: Buffer): Promise<void> {
    const done = this.#send(packet, true).then(() => undefined);
    done.catch(() => {}); // callers often wait on the last of a row only
    return done;
  }

  /** Calls `listener` with each event packet; gives back the way to stop. */
  onEvent(listener: (event: Buffer) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the connection; everything outstanding is rejected with `error`. */
  fail(error: ReadinessError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    clearTimeout(this.#timer);
    this.#setUp?.reject(error);
    for (const { reject } of this.#pending.splice(0)) reject(error);
    this.#chunks = [];
    this.#socket.destroy();
  }

  get failure(): ReadinessError | undefined {
    return this.#failure;
  }

  #send(packet: Buffer, isVoid: boolean): Promise<Buffer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#pending.length >= MAX_PENDING)
      return Promise.reject(violation(`${MAX_PENDING} requests are unanswered`));
    return new Promise((resolve, reject) => {
      this.#sequence = (this.#sequence + 1) & 0xffff;
      const deadline = performance.now() + this.#options.timeoutMs;
      this.#pending.push({ sequence: this.#sequence, isVoid, deadline, resolve, reject });
      if (this.#pending.length === 1) this.#armTimer(deadline);
      this.#write(packet);
    });
  }

  #write(bytes: Buffer): void {
    if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(bytes);
    else this.fail(gone());
  }

  /** One timer for the oldest request: when that is late, the server no longer serves. */
  #armTimer(deadline: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.fail(silent(this.#options.timeoutMs)),
      Math.max(deadline - performance.now(), 0),
    );
    this.#timer.unref();
  }

  #receive(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    try {
      while (this.#failure === undefined && this.#takePacket()) {}
    } catch (cause) {
      this.fail(cause instanceof ReadinessError ? cause : violation("a packet cannot be read", cause));
    }
  }

  /** Handles one whole packet; false when more bytes are needed first. */
  #takePacket(): boolean {
    const headLength = this.#setUp === undefined ? PACKET_BYTES : 8;
    const head = this.#peek(headLength);
    if (head === undefined) return false;
    if (this.#setUp !== undefined && head.readUInt8(0) > LAST_SETUP_STATUS)
      throw violation("this is no X server");
    const length = this.#setUp === undefined ? packetLength(head) : setupLength(head);
    const bound = this.#setUp === undefined ? this.#options.maxReplyBytes : MAX_SETUP_BYTES;
    if (length > bound) throw violation(`a packet of ${length} bytes is beyond ${bound}`);
    const packet = this.#peek(length);
    if (packet === undefined) return false;
    this.#drop(length);
    if (this.#setUp === undefined) this.#dispatch(packet);
    else this.#finishSetup(this.#setUp, packet);
    return true;
  }

  #finishSetup(waiting: { resolve(setup: XSetup): void }, packet: Buffer): void {
    const setup = parseSetup(packet);
    this.#setUp = undefined;
    clearTimeout(this.#timer);
    waiting.resolve(setup);
  }

  #dispatch(packet: Buffer): void {
    const kind = packet.readUInt8(0);
    if (kind === ERROR || kind === REPLY) {
      this.#answer(packet, kind);
      return;
    }
    if (++this.#unasked > MAX_UNASKED_PACKETS) throw violation("the server floods us with events");
    for (const listener of this.#listeners) listener(packet);
  }

  #answer(packet: Buffer, kind: number): void {
    const sequence = packet.readUInt16LE(2);
    const index = this.#pending.findIndex((entry) => entry.sequence === sequence);
    const entry = this.#pending[index];
    if (entry === undefined || (kind === REPLY && entry.isVoid))
      throw violation(`an answer to request ${sequence}, which none awaits`);
    const passedOver = this.#pending.slice(0, index).find(({ isVoid }) => !isVoid);
    if (passedOver !== undefined) throw violation(`request ${passedOver.sequence} was passed over`);
    for (const earlier of this.#pending.splice(0, index + 1).slice(0, -1)) earlier.resolve(NOTHING);
    this.#unasked = 0;
    clearTimeout(this.#timer);
    const next = this.#pending[0];
    if (next !== undefined) this.#armTimer(next.deadline);
    if (kind === REPLY) entry.resolve(packet);
    else entry.reject(xError(packet));
  }

  /** The next `length` bytes without taking them, or undefined when they are not there yet. */
  #peek(length: number): Buffer | undefined {
    if (this.#buffered < length) return undefined;
    if ((this.#chunks[0]?.length ?? 0) < length) this.#chunks = [Buffer.concat(this.#chunks, this.#buffered)];
    return this.#chunks[0]?.subarray(0, length);
  }

  #drop(length: number): void {
    const [first, ...rest] = this.#chunks;
    const left = first?.subarray(length) ?? NOTHING;
    this.#chunks = left.length > 0 ? [left, ...rest] : rest;
    this.#buffered -= length;
  }
}

/** The connection ended, by the server or under it. */
export function gone(cause?: unknown): ReadinessError {
  return new ReadinessError("X_SERVER_GONE", "the X server closed the connection", {
    hint: "look at the X server's log; when its process is gone, start the session anew",
    cause,
  });
}

function packetLength(head: Buffer): number {
  const kind = head.readUInt8(0);
  const isLong = kind === REPLY || (kind & 0x7f) === GENERIC_EVENT; // bit 7 marks an event sent by a client
  return isLong ? PACKET_BYTES + head.readUInt32LE(4) * 4 : PACKET_BYTES;
}

function silent(timeoutMs: number): ReadinessError {
  return new ReadinessError("X_TIMEOUT", `the X server gave no answer within ${timeoutMs} ms`, {
    hint: "look whether its process is stopped or starved; raise timeoutMs on a loaded machine",
  });
}

function violation(detail: string, cause?: unknown): ReadinessError {
  return new ReadinessError("X_PROTOCOL", `the X server breaks the protocol: ${detail}`, {
    hint: "do not trust this server; take the session down and start it anew",
    cause,
  });
}

function xError(packet: Buffer): ReadinessError {
  const code = packet.readUInt8(1);
  const opcode = packet.readUInt8(10);
  const value = packet.readUInt32LE(4).toString(16);
  return new ReadinessError(
    "X_ERROR",
    `the X server answered request ${opcode} with error ${code} (0x${value})`,
    {
      hint: "a window may have gone in between; gather the facts again",
      xError: code,
    },
  );
}
