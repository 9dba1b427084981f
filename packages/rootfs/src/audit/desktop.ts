import { type AuditFinding, problem } from "./finding.js";
import { namesInside, readInside, statInside } from "./inside.js";
import { readPackages } from "./packages.js";

const PROGRAM_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

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
  "soffice",
  "nautilus",
  "gedit",
  "chromium",
  "google-chrome",
  "firefox",
];

/** Debian packages whose version is a program's, where the package is not named as the program is. */
const PACKAGES: Readonly<Record<string, string>> = {
  Xvfb: "xvfb",
  soffice: "libreoffice-core",
  "google-chrome": "google-chrome-stable",
};

export interface DesktopAudit {
  readonly findings: readonly AuditFinding[];
  /** /etc/os-release, by its keys. */
  readonly osRelease: Readonly<Record<string, string>>;
  /** Where each known program is, inside the root; absent ones are left out. */
  readonly programs: Readonly<Record<string, string>>;
  /** The version of each of them that dpkg knows. */
  readonly versions: Readonly<Record<string, string>>;
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
 * programs and their versions, compiled GSettings schemas, Mesa's drivers, and whether an X server of its
 * own is there. Reads only, and only inside the root.
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
    ...(await auditSchemas(root)),
    ...(await auditMesa(root, programs)),
  ];
  const versions = versionsOf(programs, await readPackages(root));
  return {
    findings,
    osRelease,
    programs,
    versions,
    ok: findings.every(({ status }) => status !== "problem"),
  };
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

/** GTK and GNOME abort at the first setting without them. */
async function auditSchemas(root: string): Promise<AuditFinding[]> {
  const folder = "/usr/share/glib-2.0/schemas";
  const path = `${folder}/gschemas.compiled`;
  const sources = (await namesInside(root, folder)).filter((name) => name.endsWith(".gschema.xml"));
  if (await statInside(root, path)) return [{ name: "gschemas", status: "ok", path, detail: "compiled" }];
  if (sources.length === 0) return [];
  const detail = `${sources.length} schemas are there, but not compiled`;
  return [problem("gschemas", path, detail, `Run \`glib-compile-schemas ${folder}\` in the image.`)];
}

/** A shell that draws by OpenGL needs Mesa's software driver: sessions have no graphics card. */
async function auditMesa(root: string, programs: Record<string, string>): Promise<AuditFinding[]> {
  if (!programs["gnome-shell"]) return [];
  const folders = (await namesInside(root, "/usr/lib")).filter((name) => name.endsWith("-linux-gnu"));
  for (const folder of ["/usr/lib64/dri", ...folders.map((name) => `/usr/lib/${name}/dri`)]) {
    const driver = (await namesInside(root, folder)).find((name) => /^(swrast|libdril)_dri\.so$/.test(name));
    if (driver)
      return [{ name: "mesa", status: "ok", path: `${folder}/${driver}`, detail: "software OpenGL" }];
  }
  return [
    problem(
      "mesa",
      "/usr/lib",
      "no Mesa driver for software OpenGL is there: GNOME Shell shows its failure page",
      "Install libgl1-mesa-dri in the image.",
    ),
  ];
}

function versionsOf(
  programs: Readonly<Record<string, string>>,
  packages: ReadonlyMap<string, { readonly version: string }>,
): Record<string, string> {
  const known = Object.keys(programs).map(
    (program) => [program, packages.get(PACKAGES[program] ?? program)?.version] as const,
  );
  return Object.fromEntries(known.filter((pair): pair is [string, string] => pair[1] !== undefined));
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
