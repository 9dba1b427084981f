import { readFile } from "node:fs/promises";
import { posix } from "node:path";
import { codeOf } from "../errors.js";
import type { RecordInput } from "../evidence/records.js";
import type { DesktopRecipe } from "../recipes/types.js";
import type { LiveSession } from "../session/open.js";
import { USER } from "../session/paths.js";

const X_SERVERS = ["Xorg", "Xwayland", "Xvfb", "Xtigervnc", "Xephyr"];
const LOCKERS = ["xscreensaver", "gnome-shell", "light-locker", "i3lock", "xlock", "swaylock"];

/**
 * Facts that tell a session from the image's own machine. They are read of the session's root; what a layer brings
 * (`layered`) is not the image's.
 */
export async function readParity(
  live: LiveSession,
  { layered, desktop }: { readonly layered: readonly string[]; readonly desktop: DesktopRecipe },
): Promise<RecordInput<"parity.json">> {
  const present = await programs(live, [...X_SERVERS, ...LOCKERS]);
  const ofImage = present.filter((path) => !layered.includes(path));
  return {
    imageKernels: await namesIn(live, "/lib/modules"),
    imageDisplayManager: await displayManager(live),
    imageXServers: ofImage.filter((path) => X_SERVERS.some((name) => path.endsWith(`/${name}`))),
    imageBusServices: (await namesIn(live, "/usr/share/dbus-1/system-services")).length,
    imageZone: await zone(live),
    imageLockers: ofImage.filter((path) => LOCKERS.some((name) => path.endsWith(`/${name}`))),
    sessionLockEnabled: await lockEnabled(live, desktop),
    imageInit: await initOf(live),
    imageSecurityModules: await securityModules(live),
    hostSecurityModules: await hostSecurityModules(),
    clockOffsetSeconds: await clockOffset(live),
  };
}

async function programs(live: LiveSession, names: readonly string[]): Promise<string[]> {
  const found = await namesIn(live, "/usr/bin");
  return names.filter((name) => found.includes(name)).map((name) => `/usr/bin/${name}`);
}

async function namesIn(live: LiveSession, path: string): Promise<string[]> {
  return (await orMissing(live.root.list(path))) ?? [];
}

async function displayManager(live: LiveSession): Promise<string | null> {
  const text = await orMissing(live.root.readFile("/etc/X11/default-display-manager"));
  if (text !== undefined) return text.toString().trim();
  return (await orMissing(live.root.readLink("/etc/systemd/system/display-manager.service"))) ?? null;
}

async function zone(live: LiveSession): Promise<string | null> {
  const text = await orMissing(live.root.readFile("/etc/timezone"));
  if (text !== undefined) return text.toString().trim();
  const target = await orMissing(live.root.readLink("/etc/localtime"));
  return target?.replace(/^.*zoneinfo\//, "") ?? null;
}

/** What GNOME's settings say, asked inside as the desktop's user; null where there are no such settings. */
async function lockEnabled(live: LiveSession, { rules, env }: DesktopRecipe): Promise<boolean | null> {
  if (rules !== "gnome") return null;
  const { uid, gid, home: cwd } = USER;
  const argv = ["/usr/bin/gsettings", "get", "org.gnome.desktop.screensaver", "lock-enabled"];
  const done = await live.withInit((init) => init.run({ argv, env, uid, gid, cwd }));
  const said = done.stdout.toString().trim();
  return done.code === 0 && /^(true|false)$/.test(said) ? said === "true" : null;
}

/** Where /sbin/init leads: the name of systemd's own file, say. */
async function initOf(live: LiveSession): Promise<string | null> {
  const target = await orMissing(live.root.readLink("/usr/sbin/init"));
  if (target !== undefined) return posix.basename(target);
  return (await namesIn(live, "/usr/sbin")).includes("init") ? "init" : null;
}

const SECURITY_FILES = { apparmor: "/etc/apparmor.d", selinux: "/etc/selinux" } as const;

async function securityModules(live: LiveSession): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(SECURITY_FILES).map(async ([name, path]) => ({
      name,
      has: (await namesIn(live, path)).length > 0,
    })),
  );
  return found.filter(({ has }) => has).map(({ name }) => name);
}

/** A comma-separated list where securityfs is mounted; else those two of its modules that show elsewhere. */
async function hostSecurityModules(): Promise<string[] | null> {
  const text = await readText("/sys/kernel/security/lsm");
  if (text !== undefined) return text.trim().split(",").filter(Boolean);
  const filesystems = await readText("/proc/filesystems");
  if (filesystems === undefined) return null;
  // A kernel without AppArmor has no such parameter; SELinux registers its filesystem only where it is in force.
  const hasAppArmor = (await readText("/sys/module/apparmor/parameters/enabled"))?.startsWith("Y") === true;
  return [...(hasAppArmor ? ["apparmor"] : []), ...(/\tselinuxfs$/m.test(filesystems) ? ["selinux"] : [])];
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}

/** The session's wall clock minus the host's at the middle of the asking, in seconds. */
async function clockOffset(live: LiveSession): Promise<number | null> {
  const before = Date.now();
  const done = await live.withInit((init) =>
    init.run({ argv: ["/bin/date", "+%s.%N"], env: { PATH: "/usr/bin:/bin" }, uid: 0, gid: 0 }),
  );
  const middle = (before + Date.now()) / 2000;
  const seconds = Number(done.stdout.toString().trim());
  return done.code === 0 && Number.isFinite(seconds) ? Math.round((seconds - middle) * 1000) / 1000 : null;
}

async function orMissing<T>(value: Promise<T>): Promise<T | undefined> {
  try {
    return await value;
  } catch (error) {
    if (/^(ENOENT|ENOTDIR|EINVAL)$/.test(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}
