/** One method call. Arguments are strings, or a boolean in a variant. */
export interface BusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly args?: readonly (string | { readonly signature: "b"; readonly value: boolean })[];
  /** Always true here: to look at a desktop must not start parts of it. */
  readonly noAutoStart: true;
}

/**
 * What is needed of a D-Bus client: calls, bounded by the client in time and size. A call that is answered with an
 * error rejects with that error's name in `errorName`, one that is not answered in time with the code `TIMEOUT`;
 * any other rejection means that the connection is over. `@drums/dbus-private`'s connection is one.
 */
export interface BusClient {
  call(call: BusCall, options?: { readonly timeoutMs?: number }): Promise<readonly unknown[]>;
  /** Calls `listener` at each signal that was asked for by AddMatch; gives back the way to stop. */
  onSignal?(listener: () => void): () => void;
  close(): void;
}

/** A name that is owned but answers nothing. */
export interface MuteName {
  readonly name: string;
  /** For how long it has been found so, in milliseconds. */
  readonly forMs: number;
}

/**
 * What GNOME says of itself on its session bus. Plain data, the session's own word. What is absent was not answered:
 * the name has no owner, or its owner did not answer in time.
 */
export interface BusFacts {
  /** The session bus greets a client. */
  readonly connected: boolean;
  /** org.gnome.Shell has an owner. */
  readonly shellOwned: boolean;
  /** The Shell's OverviewActive. That it can be read at all tells that the Shell's main loop runs. */
  readonly overviewActive?: boolean;
  /** Logical monitors that the Shell draws to, by org.gnome.Mutter.DisplayConfig; absent also where that fails. */
  readonly monitors?: number;
  /** gnome-session's IsSessionRunning; absent where the Shell runs without a gnome-session. */
  readonly sessionRunning?: boolean;
  /** The lock screen is shown. */
  readonly locked?: boolean;
  /** Names of the system or session bus that are owned but mute; looked for only while the Shell is not running. */
  readonly mute: readonly MuteName[];
  /** For how long the Shell has said that it runs, when a wait asked again and again; else absent. */
  readonly runningForMs?: number;
}

/** The Shell runs by its own word: it answers, has a monitor, and its session is past its start. */
export function isShellRunning(bus: BusFacts): boolean {
  const { shellOwned, overviewActive, monitors = 0, sessionRunning } = bus;
  return shellOwned && overviewActive !== undefined && monitors > 0 && sessionRunning !== false;
}
