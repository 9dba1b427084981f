export interface MountInfo {
  mountId: number;
  parentId: number;
  major: number;
  minor: number;
  root: string;
  mountPoint: string;
  options: string[];
  shared?: number;
  master?: number;
  propagateFrom?: number;
  unbindable: boolean;
  fsType: string;
  source: string;
  superOptions: string[];
}
export function parseMountinfo(text: string): MountInfo[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const f = line.split(" ");
      const dash = f.indexOf("-");
      const [major = 0, minor = 0] = (f[2] ?? "").split(":").map(Number);
      const m: MountInfo = {
        mountId: Number(f[0]),
        parentId: Number(f[1]),
        major,
        minor,
        root: f[3] ?? "",
        mountPoint: f[4] ?? "",
        options: (f[5] ?? "").split(","),
        unbindable: false,
        fsType: f[dash + 1] ?? "",
        source: f[dash + 2] ?? "",
        superOptions: (f[dash + 3] ?? "").split(","),
      };
      for (const o of f.slice(6, dash)) {
        const [k, v] = o.split(":");
        if (k === "shared") m.shared = Number(v);
        if (k === "master") m.master = Number(v);
      }
      return m;
    });
}
