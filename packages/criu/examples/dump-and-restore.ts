import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkCriu, dump, installCriu, restore } from "@drums/criu";
import { spawnNative } from "@drums/nsexec";

/** Freezes a shell that counts, ends it, and brings it back to life where it stood. Needs root. */
export async function freezeAndThaw(options: { home: string; folder: string }): Promise<string[]> {
  const { home, folder } = options;
  const criu = await installCriu({ home });
  const { version, usable } = await checkCriu(criu);
  const said = [`CRIU ${version}, ${usable ? "usable" : "not usable"} here`];

  const counter = join(folder, "count");
  const script = `n=0; while :; do n=$((n+1)); echo $n > ${counter}; sleep 0.1; done`;
  // In a pid namespace of its own, so that its pids are free again at the restore.
  const quiet = openSync("/dev/null", "r+");
  const shell = spawnNative({
    file: "/bin/sh",
    argv: ["sh", "-c", script],
    env: { PATH: "/usr/bin:/bin" },
    namespaces: ["pid"],
    newSession: true,
    fds: [0, 1, 2].map((target) => ({ source: quiet, target })),
  });
  closeSync(quiet);
  await new Promise((resolve) => setTimeout(resolve, 1000));

  const images = join(folder, "images");
  const dumped = await dump({ criu, pid: shell.pid, imagesDir: images, leaveRunning: false });
  await shell.exited;
  const before = Number(await readFile(counter, "utf8"));
  said.push(`frozen at ${before} in ${Math.round(dumped.totalMs)} ms`);

  const thawed = await restore({
    criu,
    imagesDir: images,
    workDir: join(folder, "restore"),
    root: "/",
    hostMounts: [],
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const after = Number(await readFile(counter, "utf8"));
  process.kill(thawed.pid, "SIGKILL");
  said.push(after > before ? "it went on counting" : "it stood still");
  return said;
}
