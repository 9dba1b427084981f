import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BusCall, type BusClient, isShellRunning, watchShell } from "../../src/index.js";

const RUNNING: Readonly<Record<string, readonly unknown[]>> = {
  NameHasOwner: [true],
  Get: [{ signature: "b", value: true }],
  GetCurrentState: [7, [], [["logical monitor"]], []],
  IsSessionRunning: [true],
  GetActive: [false],
  AddMatch: [],
  Set: [],
};

type Answer = readonly unknown[] | Error | Promise<readonly unknown[]>;

/** A bus that gives an answer by the method's name. */
function fakeBus(answers: Readonly<Record<string, Answer>> = RUNNING) {
  const calls: BusCall[] = [];
  const listeners = new Set<() => void>();
  let isClosed = false;
  const client: BusClient = {
    async call(call) {
      calls.push(call);
      const answer = answers[call.member] ?? refusal("org.freedesktop.DBus.Error.ServiceUnknown");
      if (answer instanceof Error) throw answer;
      return answer;
    },
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isClosed = true;
    },
  };
  const signal = () => {
    for (const listener of listeners) listener();
  };
  return { client, calls, signal, isClosed: () => isClosed };
}

function refusal(errorName: string): Error {
  return Object.assign(new Error(errorName), { errorName, code: "CALL_REFUSED" });
}

const never = new Promise<readonly unknown[]>(() => {});

describe("what the Shell says", () => {
  test("is read from its session bus, without starting anything by asking", async () => {
    const bus = fakeBus();
    const watch = watchShell({ connect: async () => bus.client });
    const facts = await watch.facts();
    expect(facts).toMatchObject({
      connected: true,
      shellOwned: true,
      overviewActive: true,
      monitors: 1,
      sessionRunning: true,
      locked: false,
      mute: [],
    });
    expect(isShellRunning(facts)).toBe(true);
    expect(bus.calls.length).toBeGreaterThan(5);
    expect(bus.calls.every(({ noAutoStart }) => noAutoStart)).toBe(true);
    watch.close();
    expect(bus.isClosed()).toBe(true);
  });

  test("leaves out what has no owner or no answer in time, and counts as running only with all of it", async () => {
    for (const missing of ["NameHasOwner", "Get", "GetCurrentState"])
      for (const answer of [refusal("org.freedesktop.DBus.Error.ServiceUnknown"), never]) {
        const { client } = fakeBus({ ...RUNNING, [missing]: answer });
        const watch = watchShell({ connect: async () => client, answerMs: 20 });
        expect(isShellRunning(await watch.facts()), missing).toBe(false);
        watch.close();
      }
    const { IsSessionRunning: _, ...alone } = RUNNING;
    const watch = watchShell({ connect: async () => fakeBus(alone).client });
    expect(isShellRunning(await watch.facts())).toBe(true); // gnome-shell without a gnome-session
    watch.close();
  });

  test("tells for how long it has run, anew after each time that it did not", async () => {
    const answers: Record<string, Answer> = { ...RUNNING };
    const watch = watchShell({ connect: async () => fakeBus(answers).client });
    expect((await watch.facts()).runningForMs).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await watch.facts()).runningForMs).toBeGreaterThan(0);
    answers.NameHasOwner = [false];
    expect(await watch.facts()).not.toHaveProperty("runningForMs");
    answers.NameHasOwner = [true];
    expect((await watch.facts()).runningForMs).toBe(0);
    watch.close();
  });

  test("takes nothing of a wrong type from a hostile bus, whatever it answers", async () => {
    const anything = fc.array(fc.anything(), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(anything, anything, anything, async (owner, overview, monitors) => {
        const answers = { NameHasOwner: owner, Get: overview, GetCurrentState: monitors };
        const watch = watchShell({ connect: async () => fakeBus(answers).client });
        const facts = await watch.facts();
        expect(["boolean"]).toContain(typeof facts.shellOwned);
        expect(["boolean", "undefined"]).toContain(typeof facts.overviewActive);
        expect(facts.monitors === undefined || Number.isInteger(facts.monitors)).toBe(true);
        watch.close();
      }),
    );
    const flood = { ...RUNNING, GetCurrentState: [0, [], Array.from({ length: 100_000 }), []] };
    const watch = watchShell({ connect: async () => fakeBus(flood).client });
    expect(await watch.facts()).not.toHaveProperty("monitors");
    watch.close();
  });
});

describe("the connection", () => {
  test("is made again when it was lost, and one that is not there is said to be not there", async () => {
    const lost = fakeBus({ ...RUNNING, NameHasOwner: Object.assign(new Error("gone"), { code: "CLOSED" }) });
    const connections: (() => Promise<BusClient>)[] = [
      () => Promise.reject(new Error("ENOENT")),
      async () => lost.client,
      async () => fakeBus().client,
    ];
    const watch = watchShell({ connect: () => (connections.shift() as () => Promise<BusClient>)() });
    expect(await watch.facts()).toEqual({ connected: false, shellOwned: false, mute: [] });
    expect((await watch.facts()).connected).toBe(false);
    expect(lost.isClosed()).toBe(true);
    expect((await watch.facts()).connected).toBe(true);
    watch.close();
  });

  test("does not hold up a look, and is closed when it comes after the watch was", async () => {
    const bus = fakeBus();
    let arrive = (_: BusClient) => {};
    const connecting = new Promise<BusClient>((resolve) => {
      arrive = resolve;
    });
    const watch = watchShell({ connect: () => connecting, answerMs: 20 });
    expect((await watch.facts()).connected).toBe(false);
    watch.close();
    arrive(bus.client);
    await connecting;
    await Promise.resolve();
    expect(bus.isClosed()).toBe(true);
  });

  test("asks a question once while its answer is outstanding, and wakes the wait when that comes late", async () => {
    let answer = (_: readonly unknown[]) => {};
    const late = new Promise<readonly unknown[]>((resolve) => {
      answer = resolve;
    });
    const bus = fakeBus({ ...RUNNING, Get: late });
    const watch = watchShell({ connect: async () => bus.client, answerMs: 20 });
    await watch.facts();
    await watch.facts();
    expect(bus.calls.filter(({ member }) => member === "Get")).toHaveLength(1);
    const woken = watch.changed(60_000);
    answer([{ signature: "b", value: false }]);
    expect(await woken).toBe(true);
    watch.close();
  });

  test("wakes the wait by a signal, and sets the Overview by a variant", async () => {
    const bus = fakeBus();
    const watch = watchShell({ connect: async () => bus.client });
    await watch.facts();
    const woken = watch.changed(60_000);
    bus.signal();
    expect(await woken).toBe(true);
    await watch.setOverview(false);
    expect(bus.calls.at(-1)).toMatchObject({
      member: "Set",
      args: ["org.gnome.Shell", "OverviewActive", { signature: "b", value: false }],
    });
    watch.close();
    const without = watchShell({ connect: () => Promise.reject(new Error("ENOENT")) });
    await expect(without.setOverview(false)).rejects.toMatchObject({ code: "BUS_GONE" });
  });
});

describe("names that are owned but mute", () => {
  test("are told with since when, not waited for, and forgotten once they answer or the Shell runs", async () => {
    const answers: Record<string, Answer> = { ...RUNNING, NameHasOwner: [false] };
    let mute = ["org.freedesktop.Accounts"];
    let searches = 0;
    const watch = watchShell({
      connect: async () => fakeBus(answers).client,
      muteNames: async () => {
        searches++;
        return mute;
      },
    });
    expect((await watch.facts()).mute).toEqual([]); // the search has only begun
    const later = await watch.facts();
    expect(later.mute.map(({ name }) => name)).toEqual(["org.freedesktop.Accounts"]);
    mute = [];
    while (searches < 2) {
      await watch.facts();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await watch.facts()).mute).toEqual([]);
    answers.NameHasOwner = [true];
    expect((await watch.facts()).mute).toEqual([]);
    watch.close();
  });
});
