import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readMountinfo } from "@drums/nsexec/proc";
import { collectRoots, listRoots, mountRoot } from "@drums/rootfs";
import { expect, onTestFinished, test } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { processHolder } from "../../src/holder.js";
import { homeAt } from "../../src/home.js";
import { collectGarbage } from "../../src/session/gc.js";
import { makeControlDeb, rootlet } from "../support/rootlet.js";
import { runDrums } from "../support/run-drums.js";
import { temporaryFolder } from "../support/temporary.js";
import { IMAGE_TIMEOUT_MS, testImage } from "../support/test-image.js";

const BUILD: readonly Need[] = ["root", "loop", "fuse", "program:mmdebstrap", "program:qemu-img"];

testNeeding(
  BUILD,
  "image audit tells an image's programs, libraries, sessions and rights, and leaves no mount",
  async () => {
    const { path } = await testImage();
    const home = await temporaryFolder();
    const { status, stdout } = await runDrums("image", "audit", path, "--home", home, "--json");
    const audit = JSON.parse(stdout);
    expect([status, audit.ok]).toEqual([0, true]);
    expect(audit.osRelease.ID).toBe("debian");
    expect(audit.mount.partition).toMatchObject({ index: 2, filesystem: "ext4" });
    expect(audit.programs.openbox).toBe("/usr/bin/openbox");
    expect(audit.versions.openbox).toMatch(/^3\./);
    const xterm = audit.libraries.find(({ program }: { program: string }) => program === "/usr/bin/xterm");
    expect(xterm.missing).toEqual([]);
    expect(xterm.libraries.map(({ name }: { name: string }) => name)).toContain("libc.so.6");
    expect(audit.sessions.map(({ id }: { id: string }) => id)).toContain("openbox");
    expect(audit.privileged.map(({ path: file }: { path: string }) => file)).toContain("/usr/bin/su");
    expect(await listRoots({ stateDir: home })).toEqual([]);
    expect((await readMountinfo("self")).filter(({ mountPoint }) => mountPoint.startsWith(home))).toEqual([]);

    const text = await runDrums("image", "audit", path, "--home", home);
    expect(text.stdout).toMatch(/Debian GNU\/Linux 12.*mounted by/);
    expect(text.stdout).toMatch(/\/usr\/bin\/su +setuid 0/);
    expect(text.stdout).toMatch(/fit for a desktop\n$/);
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  ["root", "program:dpkg-deb"],
  "a root that lacks what a desktop needs ends with 1, each lack with its place and what to do",
  async () => {
    const root = await rootlet({ without: ["/usr/bin/dbus-daemon", "/tmp"] });
    const home = await temporaryFolder();
    const { status, stdout } = await runDrums("image", "audit", root, "--home", home, "--uid", "4242");
    expect(status).toBe(1);
    expect(stdout).toContain("✗ dbus-daemon   /usr/bin/dbus-daemon: it is missing\n");
    expect(stdout).toContain("✗ user          /etc/passwd: no user has uid 4242\n");
    expect(stdout).toContain("✗ tmp           /tmp: it is missing or no folder\n");
    expect(stdout).toMatch(/not fit for a desktop\n$/);
    const asked = await runDrums("image", "audit", root, "--home", home, "--program", "/bin/none", "--json");
    expect(JSON.parse(asked.stdout).findings).toContainEqual(
      expect.objectContaining({ name: "library", status: "problem", path: "/bin/none" }),
    );
  },
);

testNeeding(
  ["root", "program:dpkg-deb"],
  "of a layer's packages is told which dependencies nobody holds, and which links of the root they would replace",
  async () => {
    const root = await rootlet({ installed: { libold: "1.0" } });
    const home = await temporaryFolder();
    const debs = [
      await makeControlDeb("viewer", "libold (>= 2.0), libnew, helper"),
      await makeControlDeb("helper", "libold", ["lib/helper/one", "usr/lib/two"]),
    ];
    const flags = debs.flatMap((deb) => ["--deb", deb]);
    const { status, stdout } = await runDrums("image", "audit", root, "--home", home, ...flags, "--json");
    expect(status).toBe(1);
    const { missingDependencies, findings } = JSON.parse(stdout);
    expect(findings).toContainEqual({
      name: "link-replaced",
      status: "note",
      path: "/lib",
      detail: "a folder where the root has a link to /usr/lib",
    });
    expect(missingDependencies).toEqual([
      { package: "viewer", dependency: "libold (>= 2.0)", found: "libold 1.0" },
      { package: "viewer", dependency: "libnew" },
    ]);
  },
);

testNeeding(
  ["root"],
  "a collection leaves the root that a living process looks into, and takes down a dead one's",
  async () => {
    const image = await rootlet();
    const home = homeAt(await temporaryFolder());
    onTestFinished(async () => {
      await collectRoots({ stateDir: home.path, liveHolders: [] });
    });
    const { id } = await mountRoot({ image, stateDir: home.path, holder: await processHolder() });
    expect((await collectGarbage(home)).roots).toEqual([]);
    expect(await readFile(join(home.roots, id, "mount/etc/os-release"), "utf8")).toContain("Rootlet");
    await collectRoots({ stateDir: home.path, liveHolders: [] });

    // The holder of a process that has ended: its pid is there again at best with another start time.
    const ended = spawn("true");
    await once(ended, "exit");
    await mountRoot({ image, stateDir: home.path, holder: `process-${ended.pid}-1` });
    expect(await collectGarbage(home)).toMatchObject({ roots: [id], failures: [] });
    expect(await listRoots({ stateDir: home.path })).toEqual([]);
  },
);

test("a path that is none, and an image that is not there, are faults of usage", async () => {
  const home = await temporaryFolder();
  const { status, stderr } = await runDrums("image", "audit", "/x", "--home", home, "--program", "bin/sh");
  expect(status).toBe(2);
  expect(stderr).toContain("absolute path");
  const missing = await runDrums("image", "audit", join(home, "none.qcow2"), "--home", home, "--json");
  expect([missing.status, JSON.parse(missing.stdout)]).toMatchObject([
    2,
    { error: { code: "IMAGE_UNREADABLE" } },
  ]);
});
