import { closeSync } from "node:fs";
import { sys } from "@drums/nsexec";
// biome-ignore lint: temporary
export type MountStep = any;
// biome-ignore lint: temporary
export async function runInMounts(
  o: any,
): Promise<{ pid: number; exited: Promise<sys.ExitStatus | undefined>; kill(s: NodeJS.Signals): void }> {
  const script = ["set -e", "mount --make-rprivate /"];
  for (const m of o.hostMounts) {
    if (m.kind === "mount")
      script.push(`mount -t ${m.fsType} ${m.source} ${m.target} ${m.data ? `-o ${m.data}` : ""}`);
    else if (m.kind === "bind") script.push(`mount --bind ${m.source} ${m.target}`);
    else if (m.kind === "folder") script.push(`mkdir -p ${m.path}`);
    else if (m.kind === "file") script.push(`: > ${m.path}`);
  }
  script.push('exec "$@"');
  const { pid, pidfd } = sys.clone3Exec({
    file: "/bin/sh",
    argv: [
      "sh",
      "-c",
      script.join("\n"),
      "sh",
      ...o.argv.map((a: string, i: number) => (i === 0 ? o.file : a)),
    ],
    env: o.env,
    fds: o.fds,
    namespaces: ["mnt"],
    ...(o.cgroupFd === undefined ? {} : { cgroupFd: o.cgroupFd }),
  });
  const exited = sys.pidfdWait(pidfd).finally(() => closeSync(pidfd));
  return {
    pid,
    exited,
    kill: (s) => {
      try {
        process.kill(pid, s);
      } catch {}
    },
  };
}
