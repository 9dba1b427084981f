import { namesInside, readInside, statInside } from "./inside.js";

const FOLDERS = [
  ["x11", "/usr/share/xsessions"],
  ["wayland", "/usr/share/wayland-sessions"],
  ["gnome", "/usr/share/gnome-session/sessions"],
] as const;
const PATH = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/** A desktop session that a root offers. */
export interface DesktopSession {
  /** The file's name without its ending: "ubuntu", "gnome", "openbox". */
  readonly id: string;
  /** A display manager's entry for X or Wayland, or a definition for gnome-session. */
  readonly kind: (typeof FOLDERS)[number][0];
  /** Inside the root. */
  readonly path: string;
  readonly name: string;
  /** The command of a display manager's entry. */
  readonly exec?: string;
  /** `DesktopNames`: what XDG_CURRENT_DESKTOP is to be. */
  readonly desktopNames: readonly string[];
  /** `RequiredComponents` of gnome-session. */
  readonly components: readonly string[];
  /** Why it cannot be started: the program of its Exec or TryExec, or a component, is not there. */
  readonly missing: readonly string[];
}

/** Every desktop session that a root has a file for, in the order of kind and name. */
export async function auditSessions(root: string): Promise<DesktopSession[]> {
  const sessions: DesktopSession[] = [];
  for (const [kind, folder] of FOLDERS)
    for (const file of await namesInside(root, folder)) {
      const id = /^(.+)\.(?:desktop|session)$/.exec(file)?.[1];
      const text = id === undefined ? undefined : await readInside(root, `${folder}/${file}`);
      if (id !== undefined && text !== undefined)
        sessions.push(await describe(root, { id, kind, path: `${folder}/${file}` }, parseKeyFile(text)));
    }
  return sessions;
}

async function describe(
  root: string,
  entry: Pick<DesktopSession, "id" | "kind" | "path">,
  keys: ReadonlyMap<string, string>,
): Promise<DesktopSession> {
  const exec = keys.get("Exec");
  const programs = [exec, keys.get("TryExec")].filter((value) => value !== undefined);
  const components = listOf(keys.get("RequiredComponents"));
  const missing: string[] = [];
  for (const [program = ""] of programs.map((command) => command.split(/\s+/)))
    if (!(await hasProgram(root, program)) && !missing.includes(program)) missing.push(program);
  for (const component of components) if (!(await hasComponent(root, component))) missing.push(component);
  return {
    ...entry,
    name: keys.get("Name") ?? entry.id,
    ...(exec === undefined ? {} : { exec }),
    desktopNames: listOf(keys.get("DesktopNames")),
    components,
    missing,
  };
}

/** The first group of a key file (Desktop Entry Specification), without its translations. */
export function parseKeyFile(text: string): Map<string, string> {
  const keys = new Map<string, string>();
  let groups = 0;
  for (const line of text.split("\n")) {
    if (/^\[.*\]\s*$/.test(line)) groups += 1;
    const match = /^([A-Za-z0-9-]+)\s*=\s*(.*?)\s*$/.exec(line);
    if (groups === 1 && match?.[1] && !keys.has(match[1])) keys.set(match[1], match[2] ?? "");
  }
  return keys;
}

async function hasProgram(root: string, program: string): Promise<boolean> {
  const paths = program.startsWith("/") ? [program] : PATH.map((folder) => `${folder}/${program}`);
  for (const path of paths) if ((await statInside(root, path))?.isFile()) return true;
  return false;
}

/** gnome-session looks a component up among autostart files and applications, or leaves it to systemd. */
async function hasComponent(root: string, component: string): Promise<boolean> {
  const files = [
    `/etc/xdg/autostart/${component}.desktop`,
    `/usr/share/applications/${component}.desktop`,
    `/usr/share/gnome/autostart/${component}.desktop`,
    `/usr/lib/systemd/user/${component}.target`,
  ];
  for (const path of files) if (await statInside(root, path)) return true;
  return false;
}

function listOf(value: string | undefined): string[] {
  return (value ?? "").split(";").filter(Boolean);
}
