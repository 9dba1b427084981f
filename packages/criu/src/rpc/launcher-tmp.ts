import { type NativeChild, spawnNative } from "@drums/nsexec";
export type MountStep = { kind: string; [key: string]: unknown };
export async function runInMounts(o: {
  hostMounts: MountStep[];
  file: string;
  argv: string[];
  env: Record<string, string>;
  fds: { source: number; target: number }[];
  cgroupFd?: number;
}): Promise<NativeChild> {
  const script = ["set -e", "mount --make-rprivate /"];
  for (const m of o.hostMounts) {
    if (m.kind === "mount")
      script.push(`mount -t ${m.fsType} ${m.source} ${m.target} ${m.data ? `-o ${m.data}` : ""}`);
    else if (m.kind === "bind") script.push(`mount --bind ${m.source} ${m.target}`);
    else if (m.kind === "folder") script.push(`mkdir -p ${m.path}`);
    else if (m.kind === "file") script.push(`: > ${m.path}`);
  }
  script.push('exec "$@"');
  return spawnNative({
    ...o,
    file: "/bin/sh",
    argv: ["sh", "-c", script.join("\n"), "sh", ...o.argv.map((a, i) => (i === 0 ? o.file : a))],
    namespaces: ["mnt"],
  });
}
