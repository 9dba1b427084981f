import type { BusCall, BusFacts } from "./types.js";

/** One question to the session bus, and which fact its answer is. */
export interface Question<Fact extends keyof BusFacts = keyof BusFacts> {
  readonly fact: Fact;
  readonly call: BusCall;
  /** The fact in a reply's values, undefined for a reply of another shape: the values are a stranger's. */
  read(values: readonly unknown[]): BusFacts[Fact] | undefined;
}

const BUS = "org.freedesktop.DBus";
const SHELL = "org.gnome.Shell";
const PROPERTIES = "org.freedesktop.DBus.Properties";
const MAX_MONITORS = 64;

/** What {@link isShellRunning} and the rules want to know, from GNOME Shell 3.38 to 48. */
export const QUESTIONS: readonly Question[] = [
  {
    fact: "shellOwned",
    call: call({ destination: BUS, path: "/org/freedesktop/DBus", interface: BUS }, "NameHasOwner", [SHELL]),
    read: ([owned]) => boolean(owned),
  },
  {
    fact: "overviewActive",
    call: call({ destination: SHELL, path: "/org/gnome/Shell", interface: PROPERTIES }, "Get", [
      SHELL,
      "OverviewActive",
    ]),
    read: ([variant]) => boolean((variant as { value?: unknown } | undefined)?.value),
  },
  {
    fact: "monitors",
    call: call(
      {
        destination: "org.gnome.Mutter.DisplayConfig",
        path: "/org/gnome/Mutter/DisplayConfig",
        interface: "org.gnome.Mutter.DisplayConfig",
      },
      "GetCurrentState",
    ),
    // (serial, monitors, logical monitors, properties)
    read: ([, , logical]) =>
      Array.isArray(logical) && logical.length <= MAX_MONITORS ? logical.length : undefined,
  },
  {
    fact: "sessionRunning",
    call: call(
      {
        destination: "org.gnome.SessionManager",
        path: "/org/gnome/SessionManager",
        interface: "org.gnome.SessionManager",
      },
      "IsSessionRunning",
    ),
    read: ([running]) => boolean(running),
  },
  {
    fact: "locked",
    call: call(
      {
        destination: "org.gnome.ScreenSaver",
        path: "/org/gnome/ScreenSaver",
        interface: "org.gnome.ScreenSaver",
      },
      "GetActive",
    ),
    read: ([active]) => boolean(active),
  },
];

/** Sets the Shell's Overview: the one thing that we change, so that windows can be used. */
export function overviewCall(active: boolean): BusCall {
  return call({ destination: SHELL, path: "/org/gnome/Shell", interface: PROPERTIES }, "Set", [
    SHELL,
    "OverviewActive",
    { signature: "b", value: active },
  ]);
}

/** Match rules of what tells that an answer may have changed. */
export const MATCH_CALLS: readonly BusCall[] = [
  `type='signal',sender='${BUS}',member='NameOwnerChanged',arg0namespace='org.gnome'`,
  `type='signal',interface='${PROPERTIES}',path='/org/gnome/Shell'`,
  "type='signal',interface='org.gnome.Mutter.DisplayConfig',member='MonitorsChanged'",
  "type='signal',interface='org.gnome.SessionManager',member='SessionRunning'",
].map((rule) =>
  call({ destination: BUS, path: "/org/freedesktop/DBus", interface: BUS }, "AddMatch", [rule]),
);

function call(
  object: Pick<BusCall, "destination" | "path" | "interface">,
  member: string,
  args: NonNullable<BusCall["args"]> = [],
): BusCall {
  return { ...object, member, args, noAutoStart: true };
}

function boolean(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}
