import { chmod, chown, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { parseOsRelease } from "../../src/audit/desktop.js";
import { auditDesktop, type DesktopAudit } from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";

async function desktopRoot(): Promise<string> {
  const root = await temporaryFolder();
  for (const path of ["etc", "usr/bin", "usr/lib", "home/user", "tmp"])
    await mkdir(join(root, path), { recursive: true });
  await chmod(join(root, "tmp"), 0o1777);
  await chown(join(root, "home/user"), 1000, 1000);
  await symlink("usr/bin", join(root, "bin"));
  await writeFile(join(root, "usr/lib/os-release"), 'PRETTY_NAME="Debian 12"\nID=debian\n');
  await symlink("../usr/lib/os-release", join(root, "etc/os-release"));
  await writeFile(
    join(root, "etc/passwd"),
    "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n",
  );
  await writeFile(join(root, "etc/machine-id"), `${"a".repeat(32)}\n`);
  for (const name of ["dbus-daemon", "openbox"])
    await writeFile(join(root, "usr/bin", name), "", { mode: 0o755 });
  await symlink("/usr/bin/openbox", join(root, "usr/bin/xterm"));
  return root;
}

const statusOf = ({ findings }: DesktopAudit) =>
  Object.fromEntries(findings.map(({ name, status }) => [name, status]));

testNeeding(
  ["root"],
  "a root that is fit for a desktop has no problem, and its programs are named",
  async () => {
    const audit = await auditDesktop(await desktopRoot());
    expect(audit.ok).toBe(true);
    expect(audit.programs).toEqual({
      "dbus-daemon": "/usr/bin/dbus-daemon",
      openbox: "/usr/bin/openbox",
      xterm: "/usr/bin/xterm",
    });
    expect(audit.osRelease).toEqual({ PRETTY_NAME: "Debian 12", ID: "debian" });
    expect(audit.findings.find(({ name }) => name === "Xvfb")).toMatchObject({
      status: "note",
      detail: expect.stringContaining("no Xvfb"),
    });
    expect(statusOf(audit)).toMatchObject({
      user: "ok",
      home: "ok",
      tmp: "ok",
      "machine-id": "ok",
      "os-release": "ok",
    });
  },
);

testNeeding(["root"], "each fault of a root is a finding with its path and a remedy", async () => {
  const root = await desktopRoot();
  await chown(join(root, "home/user"), 0, 0);
  await chmod(join(root, "tmp"), 0o755);
  await writeFile(join(root, "etc/machine-id"), "");
  const audit = await auditDesktop(root, { programs: ["gedit"] });
  expect(statusOf(audit)).toMatchObject({ home: "problem", tmp: "note", "machine-id": "note" });
  const home = audit.findings.find(({ name }) => name === "home");
  expect(home).toMatchObject({
    path: "/home/user",
    detail: "it belongs to uid 0",
    remedy: expect.stringContaining("chown"),
  });
  expect(audit.ok).toBe(false);
  expect(statusOf(await auditDesktop(root, { uid: 1234 }))).toMatchObject({ user: "problem" });
  expect(statusOf(await auditDesktop(await temporaryFolder()))).toMatchObject({
    "os-release": "problem",
    "dbus-daemon": "problem",
    user: "problem",
    tmp: "problem",
  });
});

testNeeding(["root"], "a hostile root's links never make the audit look at the host", async () => {
  const root = await temporaryFolder();
  await mkdir(join(root, "etc"));
  await symlink("/etc/passwd", join(root, "etc/machine-id"));
  await symlink("../../../../../../etc/os-release", join(root, "etc/os-release"));
  await symlink("passwd", join(root, "etc/passwd"));
  await symlink("/usr/bin", join(root, "bin"));
  const audit = await auditDesktop(root);
  expect(audit.osRelease).toEqual({});
  expect(audit.programs).toEqual({});
  expect(audit.findings.find(({ name }) => name === "machine-id")?.detail).toContain("missing");
});

test("os-release values may be quoted or bare", () => {
  expect(parseOsRelease("A=\"x y\"\nB='z'\nC=w\n# D=1\nbad line\n")).toEqual({ A: "x y", B: "z", C: "w" });
});
