import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { type FlattenOptions, flattenConfig, flattenHostConfig } from "../../src/index.js";
import { STOCK } from "../support.js";

/** Flattens files that are given as they stand (no file system is touched). */
function flatten(files: Record<string, string>, options: FlattenOptions = {}) {
  return flattenConfig(
    {
      path: "/etc/dbus-1/system.conf",
      readFile: async (path) => files[path],
      listDir: async (path) =>
        Object.keys(files)
          .filter((file) => file.startsWith(`${path}/`))
          .map((file) => file.slice(path.length + 1)),
    },
    options,
  );
}

const config = (content: string) => `<busconfig>${content}</busconfig>`;
const limit = (value: number) => config(`<limit name="auth_timeout">${value}</limit>`);

test("what starts, detaches or listens is dropped and the rest kept in order", async () => {
  const flat = await flatten({
    "/etc/dbus-1/system.conf": config(`<type>system</type><user>messagebus</user><fork/><keep_umask/><syslog/>
      <standard_system_servicedirs/><standard_session_servicedirs/><servicedir>/x</servicedir>
      <servicehelper>/h</servicehelper><pidfile>/run/p</pidfile><listen>unix:path=/a</listen><listen>tcp:port=1</listen>
      <auth>EXTERNAL</auth><policy context="default"><allow user="*"/><deny own="*"/></policy>
      <limit name="auth_timeout">5</limit><policy user="root"><allow own="*"/></policy><apparmor mode="enabled"/>`),
  });
  expect(flat.elements.map(({ name }) => name)).toEqual(["auth", "policy", "limit", "policy", "apparmor"]);
  expect(flat.elements[1]?.children.map(({ name, attributes }) => [name, attributes])).toEqual([
    ["allow", { user: "*" }],
    ["deny", { own: "*" }],
  ]);
  expect(flat.dropped.map(({ name }) => name)).toEqual([
    "type",
    "user",
    "fork",
    "keep_umask",
    "syslog",
    "standard_system_servicedirs",
    "standard_session_servicedirs",
    "servicedir",
    "servicehelper",
    "pidfile",
    "listen",
    "listen",
  ]);
});

test("includes stand in place, relative to the including file, and a folder's files are sorted", async () => {
  const flat = await flatten({
    "/etc/dbus-1/system.conf": config(
      `<include>../dbus-2/a.conf</include><includedir>system.d</includedir><limit name="auth_timeout">9</limit>`,
    ),
    "/etc/dbus-2/a.conf": config("<include>b.conf</include>"),
    "/etc/dbus-2/b.conf": limit(1),
    "/etc/dbus-1/system.d/20.conf": limit(3),
    "/etc/dbus-1/system.d/10.conf": limit(2),
    "/etc/dbus-1/system.d/30.conf.dpkg-old": limit(7),
  });
  expect(flat.elements.map(({ text }) => text)).toEqual(["1", "2", "3", "9"]);
  expect(flat.sources).toEqual([
    "/etc/dbus-1/system.conf",
    "/etc/dbus-2/a.conf",
    "/etc/dbus-2/b.conf",
    "/etc/dbus-1/system.d/10.conf",
    "/etc/dbus-1/system.d/20.conf",
  ]);
});

test("a missing include is an error that names the including line, or passed over where that is asked", async () => {
  const main = (attributes: string) => ({
    "/etc/dbus-1/system.conf": config(`\n<include${attributes}>gone.conf</include>`),
  });
  await expect(flatten(main(""))).rejects.toMatchObject({
    code: "CONFIG_MISSING",
    path: "/etc/dbus-1/gone.conf",
    message: expect.stringContaining("system.conf, line 2"),
  });
  expect((await flatten(main(' ignore_missing="yes"'))).elements).toEqual([]);
});

test("a missing main file says what to install", async () => {
  await expect(flatten({})).rejects.toMatchObject({
    code: "CONFIG_MISSING",
    hint: expect.stringContaining("dbus"),
  });
});

test("an include for SELinux is passed over where it is off, and read from the policy's root where it is on", async () => {
  const files = {
    "/etc/dbus-1/system.conf": config(
      '<include if_selinux_enabled="yes" selinux_root_relative="yes">contexts/dbus_contexts</include>',
    ),
    "/etc/selinux/targeted/contexts/dbus_contexts": config(
      '<selinux><associate own="a.b" context="c"/></selinux>',
    ),
  };
  expect((await flatten(files)).elements).toEqual([]);
  const on = await flatten(files, { selinuxRoot: "/etc/selinux/targeted" });
  expect(on.elements.map(({ name }) => name)).toEqual(["selinux"]);
});

test("a wrong file of a folder is skipped whole and named, as dbus-daemon does", async () => {
  const flat = await flatten({
    "/etc/dbus-1/system.conf": config("<includedir>system.d</includedir>"),
    "/etc/dbus-1/system.d/a.conf": config(
      '<limit name="auth_timeout">1</limit><limit name="bogus">1</limit>',
    ),
    "/etc/dbus-1/system.d/b.conf": limit(2),
    "/etc/dbus-1/system.d/c.conf": "<busconfig>",
  });
  expect(flat.elements.map(({ text }) => text)).toEqual(["2"]);
  expect(flat.skipped.map(({ file }) => file)).toEqual([
    "/etc/dbus-1/system.d/a.conf",
    "/etc/dbus-1/system.d/c.conf",
  ]);
  expect(flat.skipped[0]?.reason).toContain("bogus");
});

test("files that include each other are refused with the way there", async () => {
  const files = {
    "/etc/dbus-1/system.conf": config("<include>a.conf</include>"),
    "/etc/dbus-1/a.conf": config("<include>./b/../system.conf</include>"),
  };
  await expect(flatten(files)).rejects.toMatchObject({
    code: "CONFIG_LOOP",
    message: expect.stringContaining("system.conf → /etc/dbus-1/a.conf → /etc/dbus-1/system.conf"),
  });
});

test("a chain of includes without end, a flood of files and a huge file are refused", async () => {
  const chain = { path: "/0", listDir: async () => [] };
  const endless = (path: string) =>
    Promise.resolve(config(`<include>/${Number(path.slice(1)) + 1}</include>`));
  await expect(flattenConfig({ ...chain, readFile: endless })).rejects.toMatchObject({ code: "CONFIG_LOOP" });

  const names = Array.from({ length: 10_000 }, (_, index) => `${index}.conf`);
  const flood = {
    path: "/0",
    listDir: async () => names,
    readFile: async () => config(""),
  };
  const main = async (path: string) => (path === "/0" ? config("<includedir>/d</includedir>") : config(""));
  await expect(flattenConfig({ ...flood, readFile: main })).rejects.toMatchObject({
    code: "CONFIG_TOO_LARGE",
  });

  const huge = flatten({ "/etc/dbus-1/system.conf": config(" ".repeat(2_000_000)) });
  await expect(huge).rejects.toMatchObject({ code: "CONFIG_TOO_LARGE" });
});

testNeeding(
  [`file:${STOCK}`],
  "this machine's stock configuration keeps every rule of every file",
  async () => {
    const flat = await flattenHostConfig(STOCK);
    expect(flat.skipped).toEqual([]);
    const folders = ["/usr/share/dbus-1/system.d", "/etc/dbus-1/system.d"];
    const files = [STOCK, ...folders.flatMap((folder) => confFiles(folder))];
    expect([...flat.sources].sort()).toEqual(expect.arrayContaining([...files].sort()));
    // Counted without our parser: every <allow and <deny outside comments.
    const text = flat.sources.map((file) => readFileSync(file, "utf8")).join("");
    const rules = text.replace(/<!--[\s\S]*?-->/g, "").match(/<(allow|deny)\s/g) ?? [];
    const kept = flat.elements.filter(({ name }) => name === "policy").flatMap(({ children }) => children);
    expect(kept.length).toBe(rules.length);
    expect(kept.length).toBeGreaterThan(10);
    expect(flat.dropped.map(({ name }) => name)).toContain("standard_system_servicedirs");
  },
);

function confFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".conf"))
      .map((name) => `${folder}/${name}`);
  } catch {
    return [];
  }
}
