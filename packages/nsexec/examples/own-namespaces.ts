import { closeSync } from "node:fs";
import {
  listPidNamespace,
  openSessionRoot,
  readMountinfo,
  readStartTime,
  SeqpacketChannel,
  spawnNative,
  sys,
} from "../src/index.js";

/** Runs a shell in namespaces of its own and looks into it from outside. Needs root. */
export async function ownNamespaces(): Promise<{ note: string; mounts: string[]; processes: string[] }> {
  const [near, far] = sys.socketpairSeqpacket();
  const child = spawnNative({
    file: "/bin/sh",
    argv: [
      "sh",
      "-ec",
      "mount --make-rprivate /; mount -t tmpfs ours /mnt; echo hello >/mnt/note; echo up >&3; sleep 1000 & wait",
    ],
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    fds: [{ source: far, target: 3 }],
    namespaces: ["pid", "mnt"],
  });
  closeSync(far);
  const channel = new SeqpacketChannel(near);
  try {
    await channel.receive({ timeoutMs: 10_000 });
    const root = await openSessionRoot({ pid: child.pid, startTime: await readStartTime(child.pid) });
    const note = await root.readFile("/mnt/note", { maxBytes: 100 });
    root.close();
    const mounts = await readMountinfo(child.pid);
    const processes = await listPidNamespace(child.pid);
    return {
      note: note.toString(),
      mounts: mounts.filter(({ source }) => source === "ours").map(({ mountPoint }) => mountPoint),
      processes: processes.map(({ innerPid, name }) => `${innerPid} ${name}`),
    };
  } finally {
    channel.close();
    child.kill("SIGKILL");
    await child.exited;
  }
}
