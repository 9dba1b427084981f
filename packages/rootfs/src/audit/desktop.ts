import { readFile, stat } from "node:fs/promises";
import { RootfsError } from "../errors.js";
import { resolveInRoot } from "../resolve.js";

const PROGRAM_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const MAX_FILE_BYTES = 1 << 20;

/** Programs that a desktop session of drums may ask for. */
const PROGRAMS = [
  "Xvfb",
  "dbus-daemon",
  "openbox",
  "gnome-shell",
  "gnome-session",
  "xterm",
  "xdotool",
  "python3",
  "sudo",
];

export interface AuditFinding {
  readonly name: string;
  /** "ok"; "note" for what a recipe has to know; "problem" for what keeps a desktop from working. */
  readonly status: "ok" | "note" | "problem";
  /** Inside the root. */
  readonly path: string;
  readonly detail: string;
  /** For a problem: what to do. */
  readonly remedy?: string;
}

export interface DesktopAudit {
  readonly findings: readonly AuditFinding[];
  /** /etc/os-release, by its keys. */
  readonly osRelease: Readonly<Record<string, string>>;
  /** Where each known program is, inside the root; absent ones are left out. */
  readonly programs: Readonly<Record<string, string>>;
  /** No finding is a problem. */
  readonly ok: boolean;
}

export interface DesktopAuditOptions {
  /** The user that the desktop runs as. Default 1000. */
  readonly uid?: number;
  /** Programs to look for beside the known ones. */
  readonly programs?: readonly string[];
}

/**
 * Looks over a root for what a desktop in it needs: the user and its home, /tmp, machine id, release,
 * programs, and whether an X server of its own is there. Reads only, and only inside the root.
 */
export async function auditDesktop(root: string, options: DesktopAuditOptions = {}): Promise<DesktopAudit> {
  const { uid = 1000 } = options;
  const programs = await findPrograms(root, [...new Set([...PROGRAMS, ...(options.programs ?? [])])]);
  const osRelease = parseOsRelease((await readInside(root, "/etc/os-release")) ?? "");
  const findings = [
    auditRelease(osRelease),
    auditServer(programs),
    auditBus(programs),
    ...(await auditUser(root, uid)),
    await auditTmp(root),
    await auditMachineId(root),
  ];
  return { findings, osRelease, programs, ok: findings.every(({ status }) => status !== "problem") };
}

function auditRelease({ PRETTY_NAME }: Record<string, string>): AuditFinding {
  const path = "/etc/os-release";
  if (PRETTY_NAME) return { name: "os-release", status: "ok", path, detail: PRETTY_NAME };
  return problem(
    "os-release",
    path,
    "it is missing or names no system",
    "Give an image whose root is a whole system.",
  );
}

function auditServer({ Xvfb }: Record<string, string>): AuditFinding {
  if (Xvfb) return { name: "Xvfb", status: "note", path: Xvfb, detail: "the image has an Xvfb of its own" };
  const detail = "the image has no Xvfb: a layer brings it";
  return { name: "Xvfb", status: "note", path: "/usr/bin/Xvfb", detail };
}

function auditBus(programs: Record<string, string>): AuditFinding {
  const path = programs["dbus-daemon"];
  if (path) return { name: "dbus-daemon", status: "ok", path, detail: "present" };
  return problem(
    "dbus-daemon",
    "/usr/bin/dbus-daemon",
    "it is missing",
    "Install dbus-daemon in the image, or give it in a layer.",
  );
}

async function auditUser(root: string, uid: number): Promise<AuditFinding[]> {
  const entries = ((await readInside(root, "/etc/passwd")) ?? "").split("\n").map((line) => line.split(":"));
  const entry = entries.find((fields) => fields[2] === String(uid));
  const [name = "", , , gid = "", , home = ""] = entry ?? [];
  if (!entry)
    return [
      problem(
        "user",
        "/etc/passwd",
        `no user has uid ${uid}`,
        `Add one to the image: useradd -m -u ${uid} user.`,
      ),
    ];
  const user = {
    name: "user",
    status: "ok",
    path: "/etc/passwd",
    detail: `${name}, uid ${uid}, gid ${gid}`,
  } as const;
  const stats = await statInside(root, home);
  if (!stats?.isDirectory())
    return [user, problem("home", home, "it is missing", `Make it in the image, owned by ${name}.`)];
  if (stats.uid !== uid)
    return [
      user,
      problem("home", home, `it belongs to uid ${stats.uid}`, `chown -R ${uid}:${gid} ${home} in the image.`),
    ];
  return [user, { name: "home", status: "ok", path: home, detail: `belongs to uid ${uid}` }];
}

async function auditTmp(root: string): Promise<AuditFinding> {
  const stats = await statInside(root, "/tmp");
  const mode = stats && (stats.mode & 0o7777).toString(8);
  if (mode === "1777") return { name: "tmp", status: "ok", path: "/tmp", detail: "mode 1777" };
  // A session mounts a tmpfs of its own there; but the mount point has to be.
  if (stats?.isDirectory())
    return { name: "tmp", status: "note", path: "/tmp", detail: `mode ${mode}, not 1777` };
  return problem("tmp", "/tmp", "it is missing or no folder", "Make it in the image, mode 1777.");
}

async function auditMachineId(root: string): Promise<AuditFinding> {
  const path = "/etc/machine-id";
  const text = (await readInside(root, path))?.trim();
  const status = "note";
  if (text === undefined)
    return { name: "machine-id", status, path, detail: "missing: a session gets its own" };
  if (/^[0-9a-f]{32}$/.test(text)) return { name: "machine-id", status: "ok", path, detail: text };
  return {
    name: "machine-id",
    status,
    path,
    detail: text === "" ? "empty: a session gets its own" : "not 32 hex digits",
  };
}

async function findPrograms(root: string, names: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names)
    for (const folder of PROGRAM_FOLDERS) {
      const path = `${folder}/${name}`;
      const stats = found[name] ? undefined : await statInside(root, path);
      if (stats?.isFile() && (stats.mode & 0o111) !== 0) found[name] = path;
    }
  return found;
}

/** os-release(5): shell-like assignments, values perhaps in quotes. */
export function parseOsRelease(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const match = /^([A-Z][A-Z0-9_]*)=(?:"([^"]*)"|'([^']*)'|(\S*))\s*$/.exec(line);
    if (match?.[1]) found[match[1]] = match[2] ?? match[3] ?? match[4] ?? "";
  }
  return found;
}

async function statInside(root: string, path: string) {
  try {
    return await stat((await resolveInRoot(root, path)).host);
  } catch (error) {
    if (error instanceof RootfsError || (error as NodeJS.ErrnoException).code !== undefined) return undefined;
    throw error;
  }
}

async function readInside(root: string, path: string): Promise<string | undefined> {
  const stats = await statInside(root, path);
  if (!stats?.isFile() || stats.size > MAX_FILE_BYTES) return undefined;
  return await readFile((await resolveInRoot(root, path)).host, "utf8");
}

function problem(name: string, path: string, detail: string, remedy: string): AuditFinding {
  return { name, status: "problem", path, detail, remedy };
}
