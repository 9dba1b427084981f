/** A value as a stub's plan carries it: structs and arrays are arrays, a dict an array of [key, value]. */
export type StubValue = string | number | boolean | readonly StubValue[];

/** What a method answers: its values, or an error's name and words. */
export type MethodAnswer =
  | { readonly values: readonly StubValue[] }
  | { readonly error: string; readonly text: string };

/** What a stub is told of the session that it speaks for. */
export interface StubFacts {
  readonly hostname: string;
  /** As in /usr/share/zoneinfo. */
  readonly timezone: string;
  /** PRETTY_NAME of os-release. */
  readonly operatingSystem: string;
}

/** A service that can be stood in for, and what it can honestly say. */
export interface StubService {
  readonly name: string;
  readonly path: string;
  readonly interface: string;
  /** Answers that are not the refusal that every other method gets. */
  readonly methods: Readonly<Record<string, MethodAnswer>>;
  /** Properties that are not the zero of their type. `now` of type t is the time at which it is asked for. */
  properties(facts: StubFacts): Readonly<Record<string, StubValue>>;
}

const none = (name: string, text: string): MethodAnswer => ({
  error: `org.freedesktop.login1.${name}`,
  text,
});
const NOTHING: MethodAnswer = { values: [[]] };
/** login1(5): "na": the hardware, kernel or configuration has no such thing. */
const NOT_AVAILABLE: MethodAnswer = { values: ["na"] };

/** The services of systemd 252 that a desktop asks for itself, its machine and its clock, by their short names. */
export const SERVICES: Readonly<Record<"login1" | "hostname1" | "timedate1", StubService>> = {
  login1: {
    name: "org.freedesktop.login1",
    path: "/org/freedesktop/login1",
    interface: "org.freedesktop.login1.Manager",
    methods: {
      ListSessions: NOTHING,
      ListUsers: NOTHING,
      ListSeats: NOTHING,
      ListInhibitors: NOTHING,
      GetSession: none("NoSuchSession", "there are no login sessions here"),
      GetSessionByPID: none("NoSessionForPID", "no process belongs to a login session here"),
      GetUser: none("NoSuchUser", "nobody has logged in here"),
      GetUserByPID: none("NoUserForPID", "no process belongs to a user who has logged in here"),
      GetSeat: none("NoSuchSeat", "there are no seats here"),
      ...Object.fromEntries(
        `PowerOff Reboot Halt Suspend Hibernate HybridSleep SuspendThenHibernate RebootParameter
        RebootToFirmwareSetup RebootToBootLoaderMenu RebootToBootLoaderEntry`
          .split(/\s+/)
          .map((what) => [`Can${what}`, NOT_AVAILABLE]),
      ),
    },
    properties: () => ({ OnExternalPower: true }),
  },
  hostname1: {
    name: "org.freedesktop.hostname1",
    path: "/org/freedesktop/hostname1",
    interface: "org.freedesktop.hostname1",
    methods: {},
    properties: ({ hostname, operatingSystem }) => ({
      Hostname: hostname,
      StaticHostname: hostname,
      DefaultHostname: "localhost",
      HostnameSource: "static",
      IconName: "computer-container",
      Chassis: "container",
      KernelName: "Linux",
      OperatingSystemPrettyName: operatingSystem,
    }),
  },
  timedate1: {
    name: "org.freedesktop.timedate1",
    path: "/org/freedesktop/timedate1",
    interface: "org.freedesktop.timedate1",
    methods: {},
    properties: ({ timezone }) => ({ Timezone: timezone, TimeUSec: "now" }),
  },
};
