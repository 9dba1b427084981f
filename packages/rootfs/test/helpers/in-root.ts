import { closeSync, openSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { buildSessionPlan, runSession } from "@drums/nsexec";
import { temporaryFolder } from "./temp.js";

/** Runs a program of a root, and of layers over it, inside a session, and gives what it wrote to its stdout and stderr. */
export async function runInRoot(
  root: string | readonly [root: string, ...layers: string[]],
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await temporaryFolder();
  const rooms = {
    upper: join(folder, "upper"),
    work: join(folder, "work"),
    scratch: join(folder, "scratch"),
  };
  for (const path of Object.values(rooms)) await mkdir(path, { mode: 0o755 });
  const { env: _, ...plan } = buildSessionPlan({
    profile: "compat",
    lowers: [root]
      .flat()
      .reverse()
      .map((path) => ({ path, idmap: false })),
    hostname: "audit",
    ...rooms,
  }).plan;
  const output = join(folder, "output");
  const fd = openSync(output, "w");
  try {
    const program = { file: argv[0], argv: [...argv], env: { PATH: "/usr/bin:/bin", ...env } };
    const fds = [1, 2].map((target) => ({ source: fd, target }));
    await (await runSession({ ...plan, program }, { fds })).exited;
    return await readFile(output, "utf8");
  } finally {
    closeSync(fd);
  }
}

/**
 * What glibc's loader says that it would load, in its order: paths, or "NAME not found". Asked as ldd asks:
 * `--list` would end at the first that is missing.
 */
export async function listedByLoader(root: string, loader: string, program: string): Promise<string[]> {
  return parseLoaderList(await runInRoot(root, [loader, program], { LD_TRACE_LOADED_OBJECTS: "1" }));
}

export function parseLoaderList(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim().replace(/ \(0x[0-9a-f]+\)$/, ""))
    .filter((line) => line !== "" && !line.startsWith("linux-vdso"))
    .map((line) => {
      const [name = "", path = name] = line.split(" => ");
      return path === "not found" ? `${name} not found` : path;
    });
}
