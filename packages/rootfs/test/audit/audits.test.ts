import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { parseLoaderConf } from "../../src/audit/loader.js";
import { permittedSet } from "../../src/audit/privileged.js";
import { parseProcessor } from "../../src/audit/processor.js";
import {
  auditDesktop,
  auditLayerLinks,
  auditMergedUsr,
  auditPrivileged,
  auditSessions,
  parseControl,
  readPackages,
} from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";

/** A folder with these files in it; a value that begins with "->" is a link. */
async function treeOf(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    if (content.startsWith("->")) await symlink(content.slice(2), join(root, path));
    else await writeFile(join(root, path), content);
  }
  return root;
}

testNeeding(
  ["root", "program:setcap"],
  "setuid, setgid and file capabilities are found by name",
  async () => {
    const root = await treeOf({
      "usr/bin/su": "",
      "usr/bin/wall": "",
      "usr/bin/ping": "",
      "usr/bin/ls": "",
      etc: "->/usr",
    });
    await chmod(join(root, "usr/bin/su"), 0o4755);
    await chmod(join(root, "usr/bin/wall"), 0o2755);
    await chmod(join(root, "usr/bin/ping"), 0o755);
    await chmod(join(root, "usr/bin/ls"), 0o2644);
    await execa("setcap", ["cap_net_raw,cap_checkpoint_restore+ep", join(root, "usr/bin/ping")]);
    const owner = { uid: 0, gid: 0 };
    expect(await auditPrivileged(root)).toEqual([
      {
        path: "/usr/bin/ping",
        setuid: false,
        setgid: false,
        capabilities: ["NET_RAW", "CHECKPOINT_RESTORE"],
        ...owner,
      },
      { path: "/usr/bin/su", setuid: true, setgid: false, capabilities: [], ...owner },
      { path: "/usr/bin/wall", setuid: false, setgid: true, capabilities: [], ...owner },
    ]);
  },
);

test("a capability attribute that is cut short gives nothing", () => {
  expect(permittedSet(Buffer.alloc(3))).toBe(0n);
});

test("merged /usr: links, folders of their own, and links to nowhere", async () => {
  const root = await treeOf({ "usr/lib/x": "", "sbin/x": "", lib: "->usr/lib", bin: "->usr/bin" });
  expect((await auditMergedUsr(root)).map(({ path, status }) => [path, status])).toEqual([
    ["/bin", "problem"],
    ["/sbin", "note"],
    ["/lib", "ok"],
  ]);
});

test("a layer's folder that would hide a link of the root is found, once and with the remedy", async () => {
  const root = await treeOf({ "usr/lib/x": "", lib: "->usr/lib", "run/x": "", "var/run": "->/run" });
  const layer = await treeOf({ "lib/triplet/liba.so": "", "var/run/deep/pid": "", "usr/lib/y": "" });
  expect(await auditLayerLinks(root, layer)).toMatchObject([
    { status: "problem", path: "/lib", detail: "a folder where the root has a link to /usr/lib" },
    { status: "problem", path: "/var/run", detail: "a folder where the root has a link to /run" },
  ]);
});

test("desktop sessions: entries, definitions, and what is missing of each", async () => {
  const root = await treeOf({
    "usr/bin/gnome-session": "",
    "usr/share/xsessions/ubuntu.desktop":
      "[Desktop Entry]\nName=Ubuntu\nName[de]=Andere\nExec=env MODE=x /usr/bin/gnome-session\nTryExec=gnome-session\nDesktopNames=ubuntu;GNOME;\n[Other]\nExec=no\n",
    "usr/share/xsessions/broken.desktop": "[Desktop Entry]\nName=Broken\nExec=/opt/none --flag\n",
    "usr/share/xsessions/README": "",
    "usr/share/wayland-sessions/gnome.desktop": "[Desktop Entry]\nExec=gnome-session\n",
    "usr/share/gnome-session/sessions/ubuntu.session":
      "[GNOME Session]\nName=Ubuntu\nRequiredComponents=org.gnome.Shell;org.gnome.None;\n",
    "usr/share/applications/org.gnome.Shell.desktop": "",
  });
  expect(await auditSessions(root)).toMatchObject([
    { id: "broken", kind: "x11", missing: ["/opt/none"] },
    { id: "ubuntu", kind: "x11", name: "Ubuntu", desktopNames: ["ubuntu", "GNOME"], missing: ["env"] },
    { id: "gnome", kind: "wayland", name: "gnome", exec: "gnome-session", missing: [] },
    {
      id: "ubuntu",
      kind: "gnome",
      components: ["org.gnome.Shell", "org.gnome.None"],
      missing: ["org.gnome.None"],
    },
  ]);
});

test("schemas that were not compiled and a shell without Mesa are problems; versions are dpkg's", async () => {
  const status = (name: string, version: string, state = "install ok installed") =>
    `Package: ${name}\nStatus: ${state}\nVersion: ${version}\nArchitecture: amd64\n\n`;
  const files: Record<string, string> = {
    "usr/share/glib-2.0/schemas/org.gnome.gschema.xml": "",
    "usr/bin/gnome-shell": "",
    "usr/bin/Xvfb": "",
    "usr/lib/x86_64-linux-gnu/x": "",
    "var/lib/dpkg/status": status("gnome-shell", "43.9-1") + status("xvfb", "2:21.1"),
  };
  const root = await treeOf(files);
  for (const name of ["gnome-shell", "Xvfb"]) await chmod(join(root, "usr/bin", name), 0o755);
  const audit = await auditDesktop(root);
  const found = (name: string) => audit.findings.find((finding) => finding.name === name)?.status;
  expect([found("gschemas"), found("mesa")]).toEqual(["problem", "problem"]);
  expect(audit.versions).toEqual({ "gnome-shell": "43.9-1", Xvfb: "2:21.1" });
  await writeFile(join(root, "usr/share/glib-2.0/schemas/gschemas.compiled"), "");
  await mkdir(join(root, "usr/lib/x86_64-linux-gnu/dri"));
  await writeFile(join(root, "usr/lib/x86_64-linux-gnu/dri/swrast_dri.so"), "");
  const mended = (await auditDesktop(root)).findings;
  expect(
    mended.filter(({ name }) => name === "gschemas" || name === "mesa").map(({ status: s }) => s),
  ).toEqual(["ok", "ok"]);
});

test("dpkg's status: folded fields, alternatives, what is removed; a root without dpkg has none", async () => {
  const [first, second, ...rest] = parseControl(
    "Package: a\nStatus: install ok installed\nVersion: 1\nPre-Depends: libc6 (>= 2)\nDepends: b | c,\n d (= 1)\nProvides: x (= 1), y\nDescription: text\n more: text\n\nPackage: b\nStatus: deinstall ok config-files\n\nNo: name\n",
  );
  expect(first).toMatchObject({
    name: "a",
    depends: ["libc6 (>= 2)", "b | c", "d (= 1)"],
    provides: ["x (= 1)", "y"],
    installed: true,
  });
  expect(second).toMatchObject({ name: "b", installed: false });
  expect(rest).toEqual([]);
  expect((await readPackages(await temporaryFolder())).size).toBe(0);
});

test("ld.so.conf: folders, comments, types and includes", () => {
  expect(
    parseLoaderConf("/a # no\n/b:/c,/d\n/e=libc6\nhwcap 0 nosegneg\ninclude x/*.conf /y\nrelative\n"),
  ).toEqual({
    named: ["/a", "/b", "/c", "/d", "/e"],
    included: ["x/*.conf", "/y"],
  });
});

test("the processor's level is the highest whose flags are all there", () => {
  const v2 = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3";
  const v3 = `${v2} avx avx2 bmi1 bmi2 f16c fma abm movbe`;
  const cpu = (vendor: string, flags: string) =>
    parseProcessor(`vendor_id\t: ${vendor}\nflags\t\t: fpu ${flags}\n`);
  expect(cpu("AuthenticAMD", v3)).toEqual({ hwcaps: ["x86-64-v3", "x86-64-v2"], platform: "x86_64" });
  expect(cpu("GenuineIntel", v3).platform).toBe("haswell");
  expect(cpu("GenuineIntel", `${v2} avx512f avx512bw avx512cd avx512dq avx512vl`)).toEqual({
    hwcaps: ["x86-64-v2"],
    platform: "x86_64",
  });
  expect(parseProcessor("processor : 0\n").hwcaps).toEqual([]);
});
