import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import native from "@homebridge/dbus-native/lib/message.js";
import { describe, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  busCall,
  flattenHostConfig,
  probeNames,
  stubCommand,
  stubNames,
  stubPlan,
  unixAddress,
  withBus as withConnection,
  writeConfig,
} from "../../src/index.js";
import { parseIntrospection } from "../../src/stubs/introspection.js";
import { Encoder } from "../../src/wire/encode.js";
import { type DbusType, parseSignature } from "../../src/wire/signature.js";
import { ALIGNMENT } from "../../src/wire/values.js";
import { openConfig, rawPeer, STOCK, type TestBus, withBus } from "../support.js";

const NEEDS = ["program:dbus-daemon", "file:/usr/bin/python3"] as const;
const FACTS = { hostname: "box", timezone: "Europe/Oslo", operatingSystem: "Debian GNU/Linux 12" };

/** Runs `body` beside a stub that owns its name. */
async function withStub(
  stub: (typeof stubNames)[number],
  body: (bus: TestBus) => Promise<void>,
): Promise<void> {
  await withBus(
    async (bus) => {
      const server = start(stub, bus);
      try {
        await withConnection(bus.connect, async (connection) => {
          const { name } = stubPlan({ stub, busPath: bus.socket, facts: FACTS });
          const owned = () => connection.call(busCall("NameHasOwner", name));
          while ((await owned())[0] !== true) expect(server.exitCode).toBeNull();
        });
        await body(bus);
      } finally {
        await end(server);
      }
    },
    { config: openConfig },
  );
}

function start(stub: (typeof stubNames)[number], bus: TestBus): ChildProcess {
  const [file = "", ...args] = stubCommand({ stub, busPath: bus.socket, facts: FACTS });
  return spawn(file, args, { stdio: ["ignore", "ignore", "pipe"] });
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const over = once(server, "exit");
  server.kill("SIGKILL");
  await over;
}

describe("a stub answers every method and property of its interface", () => {
  for (const stub of stubNames)
    testNeeding(NEEDS, stub, () =>
      withStub(stub, async (bus) => {
        const { name, objects } = stubPlan({ stub, busPath: bus.socket, facts: FACTS });
        const [path, object] = Object.entries(objects)[0] ?? [];
        if (path === undefined || object === undefined) throw new Error("the plan has no object");
        const [[interfaceName, planned]] = Object.entries(object.interfaces) as [
          [string, (typeof object.interfaces)[string]],
        ];
        const call = { destination: name, path, interface: interfaceName };
        await withConnection(bus.connect, async (connection) => {
          const [xml] = await connection.call({
            ...call,
            interface: "org.freedesktop.DBus.Introspectable",
            member: "Introspect",
          });
          const shape = parseIntrospection(String(xml)).get(interfaceName);
          expect([...(shape?.methods.keys() ?? [])]).toEqual(Object.keys(planned.methods));
          const properties = { ...call, interface: "org.freedesktop.DBus.Properties" };
          const [all] = await connection.call({ ...properties, member: "GetAll", args: [interfaceName] });
          const types = (all as [string, { signature: string }][]).map(([key, { signature }]) => [
            key,
            signature,
          ]);
          expect(types).toEqual([...(shape?.properties ?? [])]);
          for (const [property] of types) {
            const args = [interfaceName, property ?? ""];
            expect(await connection.call({ ...properties, member: "Get", args })).toHaveLength(1);
          }
          expect((await probeNames(connection)).mute).toEqual([]);
        });
        for (const [member, method] of Object.entries(planned.methods)) {
          const answer = await rawCall(bus, { ...call, member, signature: method.in });
          if ("error" in method) expect(answer.errorName, member).toBe(method.error);
          else expect([answer.type, answer.signature], member).toEqual([2, method.out]);
        }
        const wrong = await rawCall(bus, { ...call, member: "NoSuchMethod", signature: "" });
        expect(wrong.errorName).toBe("org.freedesktop.DBus.Error.UnknownMethod");
      }),
    );
});

testNeeding(
  NEEDS,
  "what a stub says is true: its host, its clock, and that nothing can be switched off",
  async () => {
    await withStub("hostname1", async (bus) => {
      expect(await property(bus, "hostname1", "Hostname")).toBe("box");
      expect(await property(bus, "hostname1", "Chassis")).toBe("container");
    });
    await withStub("timedate1", async (bus) => {
      const before = BigInt(Date.now()) * 1000n - 1_000_000n;
      expect(await property(bus, "timedate1", "TimeUSec")).toBeGreaterThan(before);
      expect(await property(bus, "timedate1", "Timezone")).toBe("Europe/Oslo");
    });
    await withStub("login1", async (bus) => {
      await withConnection(bus.connect, async (connection) => {
        const manager = {
          destination: "org.freedesktop.login1",
          path: "/org/freedesktop/login1",
          interface: "org.freedesktop.login1.Manager",
        };
        expect(await connection.call({ ...manager, member: "CanPowerOff" })).toEqual(["na"]);
        await expect(
          connection.call({ ...manager, member: "GetSession", args: ["1"] }),
        ).rejects.toMatchObject({
          errorName: "org.freedesktop.login1.NoSuchSession",
        });
      });
    });
  },
);

async function property(bus: TestBus, stub: "hostname1" | "timedate1", name: string) {
  const owner = `org.freedesktop.${stub}`;
  const call = { destination: owner, path: `/org/freedesktop/${stub}`, args: [owner, name], member: "Get" };
  return withConnection(bus.connect, async (connection) => {
    const [variant] = await connection.call({ ...call, interface: "org.freedesktop.DBus.Properties" });
    return (variant as { value: unknown }).value;
  });
}

testNeeding(
  [...NEEDS, `file:${STOCK}`],
  "a stub whose name the policy gives to nobody, or that has an owner, ends and says so",
  async () => {
    const nobodyOwns = (address: string) =>
      openConfig(address).replace("</policy>", '<deny own="org.freedesktop.login1"/></policy>');
    await withBus(
      async (bus) => {
        const server = start("login1", bus);
        let said = "";
        server.stderr?.on("data", (chunk) => {
          said += chunk;
        });
        expect((await once(server, "exit"))[0]).toBe(1);
        expect(said).toContain("org.freedesktop.DBus.Error.AccessDenied");
      },
      { config: nobodyOwns },
    );
    await withStub("hostname1", async (bus) => {
      expect((await once(start("hostname1", bus), "exit"))[0]).toBe(1);
    });
    expect(writeConfig(await flattenHostConfig(STOCK), { address: unixAddress("/x") })).not.toContain(
      "servicedir",
    );
  },
);

test("the interfaces have what the services of systemd have", () => {
  const { objects } = stubPlan({ stub: "login1", busPath: "/x", facts: FACTS });
  const manager = objects["/org/freedesktop/login1"]?.interfaces["org.freedesktop.login1.Manager"];
  expect(Object.keys(manager?.methods ?? {}).length).toBeGreaterThan(50);
  expect(manager?.methods.Inhibit).toMatchObject({ in: "ssss", out: "h" });
});

interface RawCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature: string;
}

/** A call with arguments of any type, each the zero of it. */
async function rawCall(bus: TestBus, call: RawCall) {
  let answer = (_: { type: number; errorName?: string; signature: string }) => {};
  const answered = new Promise<Parameters<typeof answer>[0]>((resolve) => {
    answer = resolve;
  });
  const peer = await rawPeer(bus, ({ type, replySerial, errorName, body }, bytes) => {
    if (replySerial !== 2) return;
    const told = body.length === 0 ? "" : (native.unmarshall(bytes).signature ?? "");
    answer({ type, signature: told, ...(errorName !== undefined && { errorName }) });
  });
  try {
    peer.send(encodeZeros(call, 2));
    return await answered;
  } finally {
    peer.close();
  }
}

/** The library cannot write 64-bit numbers, and ours writes only what it needs: zeros are few bytes. */
function encodeZeros(
  { destination, path, interface: on, member, signature }: RawCall,
  serial: number,
): Buffer {
  const body = new Encoder();
  for (const type of parseSignature(signature)) writeZero(body, type);
  const fields = new Encoder();
  const field = (code: number, type: string) => fields.align(8).byte(code).signature(type);
  field(1, "o").string(path);
  field(2, "s").string(on);
  field(3, "s").string(member);
  field(6, "s").string(destination);
  if (signature !== "") field(8, "g").signature(signature);
  const head = new Encoder().byte(0x6c).byte(1).byte(0).byte(1).uint32(body.length).uint32(serial);
  return head.uint32(fields.length).raw(fields.bytes()).align(8).raw(body.bytes()).bytes();
}

function writeZero(to: Encoder, type: DbusType): void {
  if (type.kind === "variant") to.variant({ signature: "s", value: "" });
  else if (type.kind === "struct") for (const field of type.fields) writeZero(to.align(8), field);
  else if (type.kind === "array") to.uint32(0).align(type.element.kind === "struct" ? 8 : 1);
  else if (type.kind === "basic" && type.code === "o") to.string("/");
  else if (type.kind === "basic" && type.code === "s") to.string("");
  else if (type.kind === "basic" && type.code === "g") to.signature("");
  else if (type.kind === "basic") {
    const size = ALIGNMENT[type.code] ?? 1;
    to.align(size).raw(Buffer.alloc(size));
  }
}
