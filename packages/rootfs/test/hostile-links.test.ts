import { copyFile, lstat, lutimes, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sys } from "@drums/nsexec";
import { expect, onTestFinished } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import {
  auditDesktop,
  auditLayerLinks,
  auditLibraries,
  auditMergedUsr,
  auditPrivileged,
  auditSessions,
  findMissingDependencies,
  folderLayer,
  pythonLayer,
  RootfsError,
  readLoaderCache,
  readPackages,
  unpackDebLayer,
} from "../src/index.js";
import { makeDeb } from "./helpers/deb.js";
import { temporaryFolder } from "./helpers/temp.js";

/** What lies outside, at the names that a root's links lead to; each tells of itself when it is read. */
const OUTSIDE = {
  "etc/os-release": 'PRETTY_NAME="CANARY"\n',
  "etc/passwd": "CANARY:x:1000:1000::/home/CANARY:/bin/sh\n",
  "etc/machine-id": "c0ffee00c0ffee00c0ffee00c0ffee00\n",
  "etc/ld.so.conf": "/CANARY\n",
  "var/lib/dpkg/status": "Package: openbox\nStatus: install ok installed\nVersion: CANARY\n",
  "usr/share/xsessions/CANARY.desktop": "[Desktop Entry]\nName=CANARY\nExec=openbox\n",
  "usr/share/glib-2.0/schemas/gschemas.compiled": "CANARY",
  "home/CANARY/file": "CANARY",
} as const;
const PROGRAMS = [
  "usr/bin/openbox",
  "usr/bin/dbus-daemon",
  "usr/bin/python3",
  "usr/lib/libc.so.6",
  "lib64/ld.so",
];

/** What a hostile root has as links, outermost first: what lies below one is reached through it. */
const LINKS = [
  "etc/os-release",
  "etc/passwd",
  "etc/machine-id",
  "etc/ld.so.conf",
  "etc/ld.so.cache",
  "var/lib/dpkg",
  "usr/share/xsessions",
  "usr/share/glib-2.0",
  "usr/bin/openbox",
  "usr/bin/dbus-daemon",
  "usr/bin/python3",
  "usr/lib",
  "home",
  "lib64",
];

/** A file system of its own that keeps the time of every read. */
async function outside(folder: string): Promise<string> {
  const place = join(folder, "outside");
  await mkdir(place);
  sys.mount(place, { source: "tmpfs", fsType: "tmpfs", flags: sys.MS.STRICTATIME });
  onTestFinished(() => sys.umount2(place, sys.MNT.DETACH));
  for (const [path, content] of Object.entries(OUTSIDE)) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), content);
  }
  for (const path of PROGRAMS) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await copyFile("/bin/true", join(place, path));
  }
  await copyFile("/etc/ld.so.cache", join(place, "etc/ld.so.cache"));
  return place;
}

const namesIn = async (place: string) => (await readdir(place, { recursive: true })).sort();

/** Sets the times of everything there to 0, and gives what tells which entries were read or written since. */
async function watch(place: string): Promise<() => Promise<string[]>> {
  const names = await namesIn(place);
  for (const name of names) await lutimes(join(place, name), 0, 0);
  return async () => {
    const stats = await Promise.all(names.map((name) => lstat(join(place, name))));
    return names.filter((_, index) => stats[index]?.atimeMs !== 0 || stats[index]?.mtimeMs !== 0);
  };
}

/** All that looks into a root, or makes something for one; what is refused is as good as what is empty. */
async function everything(root: string, folder: string): Promise<unknown[]> {
  const deb = await makeDeb(
    folder,
    "package",
    [
      { name: "./etc/os-release", content: "new" },
      { name: "./usr/lib/new", content: "new" },
      { name: "./home/CANARY/new", content: "new" },
    ],
    "Depends: openbox (>= 1)\n",
  );
  const entries = ["/etc/passwd", "/usr/lib/new", "/home/new", "/lib64/new"].map((path) => ({
    path,
    content: "new",
  }));
  const target = (name: string) => join(folder, `layer-${name}`);
  const bare = await unpackDebLayer({ debs: [deb], target: target("bare") });
  const looks: (() => Promise<unknown>)[] = [
    () => auditDesktop(root),
    () => auditSessions(root),
    () => auditMergedUsr(root),
    () => auditPrivileged(root),
    () => readPackages(root).then((packages) => [...packages]),
    () => readLoaderCache(root),
    () => auditLibraries(root, { program: "/usr/bin/real" }),
    () => auditLibraries(root, { program: "/usr/bin/openbox" }),
    () => findMissingDependencies({ debs: [deb.path], root }),
    () => auditLayerLinks(root, target("bare")),
    () => unpackDebLayer({ debs: [deb], target: target("deb"), root }),
    () => folderLayer({ entries, target: target("folder"), root }),
    () => pythonLayer({ root, wheels: [], target: target("python") }),
  ];
  const found: unknown[] = [bare];
  for (const look of looks)
    found.push(
      await look().catch((error: unknown) => {
        if (error instanceof RootfsError) return error.message;
        throw error;
      }),
    );
  return found;
}

for (const [kind, prefix] of [
  ["absolute", ""],
  ["climbing", "../".repeat(40)],
  ["magic", "/proc/self/root"],
] as const)
  testNeeding(["root"], `no ${kind} link of a root makes anything outside be read or written`, async () => {
    const folder = await temporaryFolder();
    const place = await outside(folder);
    const root = join(folder, "root");
    for (const link of LINKS) {
      await mkdir(dirname(join(root, link)), { recursive: true });
      await symlink(`${prefix}${place}/${link}`, join(root, link));
    }
    await copyFile("/bin/true", join(root, "usr/bin/real"));
    const names = await namesIn(place);
    const touched = await watch(place);
    const found = JSON.stringify(await everything(root, folder));
    expect(await touched()).toEqual([]);
    expect(found).not.toMatch(/"CANARY|CANARY"|c0ffee/);
    expect(await namesIn(place)).toEqual(names);

    // A read of a file and of a folder would have been seen.
    await watch(place);
    await readFile(join(place, "etc/passwd"));
    await readdir(join(place, "usr/lib"));
    expect(await touched()).toEqual(["etc/passwd", "usr/lib"]);
  });
