import type { Duplex } from "node:stream";
import { ReadinessError } from "../errors.js";
import {
  type Call,
  type Extension,
  getAtomName,
  getInputFocus,
  internAtom,
  queryExtension,
  xtestGrabControl,
} from "./requests.js";
import type { XAuth, XSetup } from "./setup.js";
import { XWire } from "./wire.js";

export interface ConnectOptions {
  /** How long the server may take for the setup, and later for any one answer. Default 5000 ms. */
  readonly timeoutMs?: number;
  /** The largest reply that is read. Default 1 MiB. */
  readonly maxReplyBytes?: number;
  /** Default: none, as a server started with `-ac` wants it. */
  readonly auth?: XAuth;
}

/**
 * Speaks X11 over a connected stream, which it owns from now on. Where the server has XTEST it also
 * makes this connection deaf to other clients' server grabs, which would stall it.
 * Throws X_REFUSED, X_PROTOCOL, X_SERVER_GONE or X_TIMEOUT; the stream is destroyed then.
 */
export async function connectX(socket: Duplex, options: ConnectOptions = {}): Promise<XSession> {
  const { timeoutMs = 5_000, maxReplyBytes = 1024 * 1024, auth } = options;
  const wire = new XWire(socket, { timeoutMs, maxReplyBytes, ...(auth && { auth }) });
  const session = new XSession(wire, await wire.setup);
  const xtest = await session.extension("XTEST");
  if (xtest !== undefined) await session.command(xtestGrabControl(xtest), { confirm: true });
  return session;
}

/** A connection to an X server. Made by {@link connectX}. */
export class XSession {
  readonly setup: XSetup;
  readonly #wire: XWire;
  readonly #atoms = new Map<string, number>();
  readonly #atomNames = new Map<number, string>();
  readonly #extensions = new Map<string, Promise<Extension | undefined>>();
  #ids = 0;

  constructor(wire: XWire, setup: XSetup) {
    this.#wire = wire;
    this.setup = setup;
  }

  /** Sends a request and reads its reply. Requests sent in one turn travel together. */
  async call<Reply>({ packet, read }: Call<Reply>): Promise<Reply> {
    const reply = await this.#wire.request(packet);
    try {
      return read(reply);
    } catch (cause) {
      const error = new ReadinessError("X_PROTOCOL", "the X server's reply is shorter than it claims", {
        hint: "do not trust this server; take the session down and start it anew",
        cause,
      });
      this.#wire.fail(error);
      throw error;
    }
  }

  /** Like {@link call}, but undefined for an X error: what was asked about may be gone by now. */
  async ask<Reply>(call: Call<Reply>): Promise<Reply | undefined> {
    try {
      return await this.call(call);
    } catch (error) {
      if (error instanceof ReadinessError && error.code === "X_ERROR") return undefined;
      throw error;
    }
  }

  /** Sends a request without a reply; with `confirm` waits until the server took it (throws X_ERROR when not). */
  async command(packet: Buffer, options: { readonly confirm?: boolean } = {}): Promise<void> {
    const done = this.#wire.command(packet);
    if (options.confirm !== true) return;
    await Promise.all([done, this.sync()]);
  }

  /** Waits until the server has handled all that was sent. */
  async sync(): Promise<void> {
    await this.call(getInputFocus());
  }

  /** The atom of a name, 0 where the server has none yet. */
  async atom(name: string): Promise<number> {
    const known = this.#atoms.get(name);
    if (known !== undefined) return known;
    const atom = await this.call(internAtom(name));
    if (atom !== 0) this.#atoms.set(name, atom);
    return atom;
  }

  /** The name of an atom, `atom N` where the server knows none. */
  async atomName(atom: number): Promise<string> {
    const known = this.#atomNames.get(atom);
    if (known !== undefined) return known;
    const name = (await this.ask(getAtomName(atom))) ?? `atom ${atom}`;
    this.#atomNames.set(atom, name);
    return name;
  }

  /** Opcode and events of an extension, undefined where the server lacks it. Asked once. */
  extension(name: string): Promise<Extension | undefined> {
    const known = this.#extensions.get(name);
    if (known !== undefined) return known;
    const asked = this.call(queryExtension(name));
    this.#extensions.set(name, asked);
    return asked;
  }

  /** An identifier for a resource of ours. */
  newId(): number {
    const { resourceBase, resourceMask } = this.setup;
    const step = resourceMask & -resourceMask; // its lowest bit
    this.#ids++;
    return (resourceBase | ((this.#ids * step) & resourceMask)) >>> 0;
  }

  /** Calls `listener` with each event packet; gives back the way to stop. */
  onEvent(listener: (event: Buffer) => void): () => void {
    return this.#wire.onEvent(listener);
  }

  /** Why the connection ended, undefined while it lives. */
  get failure(): ReadinessError | undefined {
    return this.#wire.failure;
  }

  /** Bounds a longer exchange: past `timeoutMs` the connection is given up with X_TIMEOUT. */
  async within<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
    const timer = setTimeout(() => {
      this.#wire.fail(
        new ReadinessError("X_TIMEOUT", `${what} took the X server longer than ${timeoutMs} ms`, {
          hint: "look whether its process is stopped or starved; raise timeoutMs on a loaded machine",
        }),
      );
    }, timeoutMs);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the connection. The server lets go of all that was ours. */
  close(): void {
    this.#wire.fail(
      new ReadinessError("X_SERVER_GONE", "the connection was closed from this side", {
        hint: "connect again",
      }),
    );
  }
}
