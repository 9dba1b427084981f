import {
  busIdentity,
  checkHostBus,
  findMuteNames,
  type NamedBus,
  readHostBus,
  sharedBuses,
} from "@drums/dbus-private";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { findDesktop } from "../../src/recipes/find.js";
import { inspectBus } from "../../src/session/bus.js";
import type { LiveSession } from "../../src/session/open.js";
import { INSIDE } from "../../src/session/paths.js";
import { GNOME_TIMEOUT_MS, withGnome } from "../support/gnome.js";
import { DESKTOP_NEEDS } from "../support/test-home.js";

/** Reads a bus configuration with Python's own XML parser and follows its includes, as a second opinion. */
const READ = `import json, os, sys, xml.etree.ElementTree as tree
def read(path):
    for element in tree.parse(path).getroot():
        here = os.path.join(os.path.dirname(path), element.text or "")
        if element.tag == "include":
            if element.get("if_selinux_enabled") != "yes" and os.path.exists(here): yield from read(here)
        elif element.tag == "includedir":
            names = sorted(os.listdir(here)) if os.path.isdir(here) else []
            for name in names:
                if name.endswith(".conf"): yield from read(os.path.join(here, name))
        else:
            yield [element.tag, element.attrib, (element.text or "").strip(), [[c.tag, c.attrib] for c in element]]
print(json.dumps([list(read(path)) for path in sys.argv[1:]]))
`;

type Element = readonly [tag: string, attributes: object, text: string, rules: readonly unknown[]];

/** What a private bus must not have from the image: it starts, detaches, or is set anew. */
const LEFT_OUT = [
  ...["fork", "keep_umask", "listen", "pidfile", "servicehelper", "standard_system_servicedirs", "syslog"],
  ...["type", "user"],
];

async function readInside(live: LiveSession, ...paths: string[]): Promise<Element[][]> {
  const { stdout, stderr, code } = await live.withInit((init) =>
    init.run({
      argv: ["python3", "-c", READ, ...paths],
      env: { PATH: "/usr/bin:/bin" },
      uid: 0,
      gid: 0,
    }),
  );
  expect(code, stderr.toString()).toBe(0);
  return JSON.parse(stdout.toString());
}

testNeeding(
  DESKTOP_NEEDS,
  "a GNOME image's bus has every policy, rule and limit of its own configuration, in order, and nothing else",
  () =>
    withGnome({ alter: () => undefined }, async ({ live }) => {
      const [own = [], flat = []] = await readInside(live, "/usr/share/dbus-1/system.conf", INSIDE.busConfig);
      const kept = (elements: Element[]) => elements.filter(([tag]) => !LEFT_OUT.includes(tag));
      expect(kept(flat)).toEqual(kept(own));
      const rules = kept(flat).flatMap(([, , , children]) => children);
      expect(rules.length).toBeGreaterThan(50);
      const set = flat.filter(([tag]) => LEFT_OUT.includes(tag));
      expect(set.map(([tag, , text]) => [tag, text])).toEqual([
        ["type", "system"],
        ["listen", `unix:path=${INSIDE.bus}`],
      ]);
    }),
  GNOME_TIMEOUT_MS,
);

testNeeding(
  DESKTOP_NEEDS,
  "two GNOME sessions at once share neither bus with each other or the host, and no name of theirs is mute",
  async () => {
    const host = await readHostBus();
    await withGnome({}, async (one) => {
      await withGnome({}, async (two) => {
        for (const { wait } of [one, two]) expect((await wait()).verdict.name).toBe("ready");
        const buses = [...(await busesOf("one", one.live)), ...(await busesOf("two", two.live))];
        expect(buses).toHaveLength(4);
        expect(sharedBuses(buses)).toEqual([]);
        expect(await checkHostBus(host, { others: buses })).toMatchObject({ ok: true });
        for (const { live } of [one, two]) {
          const { report } = await inspectBus(live);
          expect(report.checks.filter(({ ok }) => !ok)).toEqual([]);
          expect(report.missingName.error).toBe("org.freedesktop.DBus.Error.ServiceUnknown");
          expect(await findMuteNames(systemBus(live), { timeoutMs: 5_000 })).toEqual([]);
        }
        const ids = await Promise.all([one, two].map(async ({ live }) => (await inspectBus(live)).report.id));
        expect(new Set(ids).size).toBe(2);
      });
    });
  },
  GNOME_TIMEOUT_MS,
);

async function busesOf(name: string, live: LiveSession): Promise<NamedBus[]> {
  const { sessionBus = "" } = findDesktop("gnome");
  return Promise.all(
    [INSIDE.bus, sessionBus].map(async (path) => ({
      name: `${name} ${path}`,
      identity: busIdentity(await live.root.stat(path)),
    })),
  );
}

function systemBus(live: LiveSession) {
  const base = live.record.spec.idBase ?? 0;
  return () => live.connectBus({ uid: base, gid: base });
}
