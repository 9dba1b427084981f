import { expect, test } from "vitest";
import { flattenConfig, parseConfig, unixAddress, writeConfig } from "../../src/index.js";

const flat = (content: string) =>
  flattenConfig({
    path: "/x.conf",
    readFile: async () => `<busconfig>${content}</busconfig>`,
    listDir: async () => [],
  });

test("one type and one address are set, and the rest is written as it was read", async () => {
  const source = await flat(`<type>session</type><listen>tcp:port=1</listen><auth>EXTERNAL</auth>
    <policy user="root"><allow own="a.b"/></policy><limit name="auth_timeout">5</limit>`);
  const text = writeConfig(source, { address: "unix:path=/run/dbus/system_bus_socket" });
  const root = parseConfig(text, { file: "written" });
  expect(root.children.map(({ name, text: value }) => [name, value.trim()])).toEqual([
    ["type", "system"],
    ["listen", "unix:path=/run/dbus/system_bus_socket"],
    ["auth", "EXTERNAL"],
    ["policy", ""],
    ["limit", "5"],
  ]);
  expect(root.children[3]).toMatchObject({
    attributes: { user: "root" },
    children: [{ name: "allow", attributes: { own: "a.b" } }],
  });
});

test("what is special in XML survives", async () => {
  const source = await flat('<policy context="default"><allow own="a&amp;&lt;b&quot;c&#10;d"/></policy>');
  const root = parseConfig(writeConfig(source, { address: "unix:abstract=x" }), { file: "written" });
  expect(root.children[2]?.children[0]?.attributes.own).toBe('a&<b"c\nd');
});

test.each([
  "tcp:host=localhost",
  "unix:path=/a;unix:path=/b",
  "unix:path=/a,guid=1",
  "unix:tmpdir=/tmp",
  "/run/bus",
])("%s is no address of a private bus", async (address) => {
  const source = await flat("");
  expect(() => writeConfig(source, { address })).toThrowError(
    expect.objectContaining({ code: "BAD_ADDRESS" }),
  );
});

test("a path becomes an address with what must be escaped, and a long or relative one is refused", () => {
  expect(unixAddress("/run/dbus/system_bus_socket")).toBe("unix:path=/run/dbus/system_bus_socket");
  expect(unixAddress("/tmp/a b;ü")).toBe("unix:path=/tmp/a%20b%3b%c3%bc");
  expect(() => unixAddress(`/${"x".repeat(107)}`)).toThrowError(/longer than 107 bytes/);
  expect(() => unixAddress("bus")).toThrowError(/not absolute/);
});
