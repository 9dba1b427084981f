import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { homeAt } from "../../src/home.js";
import { blockersOf, collectPreflight, type PreflightSource } from "../../src/preflight/index.js";
import { packageSources } from "../../src/preflight/packages.js";
import { preflightTable } from "../../src/preflight/table.js";
import { machineWith } from "../support/machine.js";

const home = homeAt("/nowhere");
const says = (area: string, name: string, status: "ok" | "blocker"): PreflightSource => ({
  area,
  items: async () => [
    { name, status, detail: `of ${area}`, ...(status === "ok" ? {} : { remedy: "mend it" }) },
  ],
});

test("where a package and the host speak of the same thing, the package's word stands", async () => {
  const sources = [says("criu", "tar", "blocker")];
  const items = await collectPreflight({ home, sources, machine: machineWith() });
  expect(items.filter(({ name }) => name === "tar")).toEqual([
    { area: "criu", name: "tar", status: "blocker", detail: "of criu", remedy: "mend it" },
  ]);
  expect(blockersOf(items)).toHaveLength(1);
});

test("a package whose preflight throws is a blocker with what it threw, and the others still speak", async () => {
  const broken: PreflightSource = {
    area: "nsexec",
    items: async () => {
      throw Object.assign(new Error("the addon is not built"), { hint: "build it" });
    },
  };
  const items = await collectPreflight({
    home,
    sources: [broken, says("criu", "criu", "ok")],
    machine: machineWith(),
  });
  expect(items).toContainEqual(
    expect.objectContaining({
      area: "nsexec",
      status: "blocker",
      detail: expect.stringContaining("not built"),
      remedy: "build it",
    }),
  );
  expect(items).toContainEqual(expect.objectContaining({ area: "criu", status: "ok" }));
});

test("every package of drums speaks for itself here, with a remedy for whatever is not ok", async () => {
  const empty = homeAt(await mkdtemp(join(tmpdir(), "drums-preflight-")));
  try {
    const items = await collectPreflight({ home: empty, siblings: 3 });
    expect(new Set(items.map(({ area }) => area))).toEqual(
      new Set(["host", ...packageSources.map(({ area }) => area)]),
    );
    for (const { name, status, remedy } of items)
      if (status !== "ok") expect(`${name}: ${remedy}`).toMatch(/: \w/);
    expect(items.filter(({ detail }) => detail.includes("preflight failed"))).toEqual([]);
  } finally {
    await rm(empty.path, { recursive: true, force: true });
  }
});

test("a CRIU that is merely absent is no blocker: the probe brings its own", async () => {
  const empty = homeAt(await mkdtemp(join(tmpdir(), "drums-preflight-")));
  try {
    const criu = packageSources.filter(({ area }) => area === "criu");
    const items = await collectPreflight({ home: empty, sources: criu, machine: machineWith() });
    const item = items.find(({ name }) => name === "criu");
    expect(item?.status === "ok" || item?.remedy?.includes("installs the pinned bundle")).toBe(true);
  } finally {
    await rm(empty.path, { recursive: true, force: true });
  }
});

test("a CRIU that is asked for by its version is looked for by it", async () => {
  const empty = homeAt(await mkdtemp(join(tmpdir(), "drums-preflight-")));
  try {
    const criu = packageSources.filter(({ area }) => area === "criu");
    const items = await collectPreflight({
      ...{ home: empty, sources: criu, machine: machineWith() },
      criu: "4.1.1",
    });
    expect(items.find(({ name }) => name === "criu")).toMatchObject({
      status: "gap",
      detail: expect.stringContaining("No CRIU 4.1.1 under"),
    });
  } finally {
    await rm(empty.path, { recursive: true, force: true });
  }
});

test("the table says name, status, detail and remedy, and what follows", () => {
  const table = preflightTable(
    [
      { area: "host", name: "root", status: "ok", detail: "runs as root" },
      {
        area: "rootfs",
        name: "ext4",
        status: "blocker",
        detail: "not in /proc/filesystems",
        remedy: "modprobe ext4",
      },
    ],
    { width: 60, paint: (_colour, text) => text },
  );
  expect(table).toBe(
    [
      "host",
      "root  ok       runs as root",
      "rootfs",
      "ext4  blocker  not in /proc/filesystems",
      "               → modprobe ext4",
      "",
      "1 ok, 0 gaps; 1 in the way: nothing is started",
      "",
    ].join("\n"),
  );
});
