import type { Duplex } from "node:stream";
import { DbusError } from "../errors.js";
import {
  decodeMessage,
  encodeCall,
  HEADER_BYTES,
  MESSAGE_TYPE,
  type Message,
  type MethodCall,
  messageLength,
} from "./message.js";
import { ByteReader, closed } from "./reader.js";
import { authenticate } from "./sasl.js";
import type { DbusValue } from "./values.js";

/** Opens a stream to the bus's socket; for a session it must go through the session's root. */
export type ConnectBus = () => Promise<Duplex>;

/** Options of {@link openBus}. */
export interface OpenBusOptions {
  /** The user to be, as the bus sees it; default whoever the kernel says we are. */
  readonly uid?: number;
  /** For connecting, authentication and the greeting each, in milliseconds; default 2000. */
  readonly timeoutMs?: number;
}

/** A connection to a bus. */
export interface BusConnection {
  /** The GUID of the server's address, as it said in authentication. */
  readonly serverGuid: string;
  /** Our own name on the bus, such as `:1.7`. */
  readonly uniqueName: string;
  /**
   * Calls a method and gives the reply's values.
   *
   * @throws DbusError `CALL_REFUSED` with `errorName`; `TIMEOUT` (default 2000 ms; the connection stays);
   *   `CLOSED`, `PROTOCOL`
   */
  call(call: MethodCall, options?: { readonly timeoutMs?: number }): Promise<readonly DbusValue[]>;
  /**
   * Calls `listener` with each signal that reaches us (a match rule asks for them: `AddMatch` by {@link busCall});
   * gives back the way to stop.
   */
  onSignal(listener: (signal: BusSignal) => void): () => void;
  /** Resolves when the connection is over, by either side, with why. */
  readonly over: Promise<DbusError>;
  close(): void;
}

/** A signal as it came. Its sender is the bus's word, the rest is the sender's. */
export interface BusSignal {
  readonly sender?: string;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly body: readonly DbusValue[];
}

const DEFAULT_TIMEOUT_MS = 2000;

/**
 * Connects to a bus, authenticates and says Hello. The bus is not trusted: everything is bounded in time and size.
 *
 * @throws DbusError `CONNECT_FAILED`, `AUTH_REFUSED`, `PROTOCOL`, `CLOSED`, `TIMEOUT`
 */
export async function openBus(connect: ConnectBus, options: OpenBusOptions = {}): Promise<BusConnection> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const stream = await connectWithin(connect, timeoutMs);
  // Errors reach us as the reader's end; without a listener they would end the process.
  stream.on("error", () => {});
  try {
    const reader = new ByteReader(stream);
    const serverGuid = await within(authenticate(reader, options), timeoutMs, "authentication");
    const calls = new Calls(reader);
    const [name] = await calls.call(busCall("Hello"), timeoutMs);
    return {
      serverGuid,
      uniqueName: String(name),
      call: (call, { timeoutMs: ms = DEFAULT_TIMEOUT_MS } = {}) => calls.call(call, ms),
      onSignal: (listener) => calls.onSignal(listener),
      over: calls.over,
      close: () => stream.destroy(),
    };
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

/**
 * Opens a connection, lets `use` have it, and closes it whatever happens: none may be open at a dump.
 *
 * @throws DbusError as {@link openBus} does, and whatever `use` throws
 */
export async function withBus<T>(
  connect: ConnectBus,
  use: (bus: BusConnection) => Promise<T>,
  options: OpenBusOptions = {},
): Promise<T> {
  const bus = await openBus(connect, options);
  try {
    return await use(bus);
  } finally {
    bus.close();
  }
}

/** A call of a method of the bus itself. */
export function busCall(member: string, ...args: string[]): MethodCall {
  const name = "org.freedesktop.DBus";
  return { destination: name, path: "/org/freedesktop/DBus", interface: name, member, args };
}

/** Calls under way, and the loop that gives each its reply. */
class Calls {
  readonly over: Promise<DbusError>;
  readonly #waiting = new Map<number, { resolve(reply: Message): void; reject(error: unknown): void }>();
  readonly #listeners = new Set<(signal: BusSignal) => void>();
  #serial = 0;
  #over: unknown;

  constructor(readonly reader: ByteReader) {
    this.over = this.#receive().catch((cause: unknown) => {
      const error = cause instanceof DbusError ? cause : closed(cause);
      this.#over = error;
      reader.stream.destroy();
      for (const { reject } of this.#waiting.values()) reject(error);
      return error;
    });
  }

  onSignal(listener: (signal: BusSignal) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async call(call: MethodCall, timeoutMs: number): Promise<readonly DbusValue[]> {
    if (this.#over !== undefined) throw this.#over;
    if (this.reader.stream.destroyed) throw closed();
    this.#serial += 1;
    const serial = this.#serial;
    const replied = new Promise<Message>((resolve, reject) => this.#waiting.set(serial, { resolve, reject }));
    try {
      this.reader.stream.write(encodeCall(call, serial));
      const reply = await within(replied, timeoutMs, `${call.destination} ${call.member}`);
      if (reply.type === MESSAGE_TYPE.error) throw callRefused(call, reply);
      return reply.body;
    } finally {
      this.#waiting.delete(serial);
    }
  }

  /** Calls to us and late replies are read and forgotten. */
  async #receive(): Promise<never> {
    for (;;) {
      const header = await this.reader.take(HEADER_BYTES);
      const rest = await this.reader.take(messageLength(header) - HEADER_BYTES);
      const message = decodeMessage(Buffer.concat([header, rest]));
      if (message.type === MESSAGE_TYPE.signal) for (const listener of this.#listeners) listener(message);
      const isReply = message.type === MESSAGE_TYPE.return || message.type === MESSAGE_TYPE.error;
      if (isReply && message.replySerial !== undefined)
        this.#waiting.get(message.replySerial)?.resolve(message);
    }
  }
}

async function connectWithin(connect: ConnectBus, timeoutMs: number): Promise<Duplex> {
  const connecting = connect();
  try {
    return await within(connecting, timeoutMs, "the connection");
  } catch (cause) {
    // A connection that comes too late must not stay open.
    connecting.then((late) => late.destroy()).catch(() => {});
    if (cause instanceof DbusError && cause.code === "TIMEOUT") throw cause;
    throw new DbusError("CONNECT_FAILED", `cannot connect to the bus: ${String(cause)}`, {
      hint: "see whether the bus runs and its socket is there",
      cause,
    });
  }
}

async function within<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timedOut(what, timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function timedOut(what: string, timeoutMs: number): DbusError {
  return new DbusError("TIMEOUT", `no answer to ${what} within ${timeoutMs} ms`, {
    hint: "the bus, or the owner of the name, is stopped or mute; read its log",
  });
}

/** What a hostile bus says of itself is quoted short. */
const QUOTED_CHARACTERS = 200;

function callRefused(call: MethodCall, reply: Message): DbusError {
  const errorName = (reply.errorName ?? "").slice(0, QUOTED_CHARACTERS);
  const [text] = reply.body;
  const said = typeof text === "string" ? `: ${text.slice(0, QUOTED_CHARACTERS)}` : "";
  return new DbusError("CALL_REFUSED", `${call.destination} ${call.member}: ${errorName}${said}`, {
    hint: "see the error's name; AccessDenied comes from the policies of the bus's configuration",
    errorName,
  });
}
