import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type CgroupFiles, realFiles } from "../src/files.js";
import { CgroupError, type Hierarchy, readHierarchy } from "../src/index.js";

const PAGE_BYTES = 4096;
const FILES = {
  memory: ["memory.max", "memory.high", "memory.current"],
  pids: ["pids.max"],
  cpu: ["cpu.max", "cpu.weight"],
};

/**
 * A v2 hierarchy with controllers in a temporary folder, for machines whose real one has none. It is a FAKE: it
 * knows only top-down enabling, control files that come with it, and rounding to pages. `refuse` makes one write
 * fail with an errno; `ignore` makes one write succeed without effect; `writes` records all of them in order.
 */
export class FakeKernel implements CgroupFiles {
  readonly folder = mkdtempSync(join(tmpdir(), "drums-fake-cgroup-"));
  readonly root = join(this.folder, "cgroup");
  readonly writes: string[] = [];
  refuse: { file: string; errno: string } | undefined;
  ignore: string | undefined;

  constructor(readonly controllers: readonly string[] = ["cpu", "memory", "pids"]) {
    this.mkdir(this.root);
    mkdirSync(join(this.folder, "proc/self"), { recursive: true });
    writeFileSync(join(this.folder, "proc/self/cgroup"), "0::/user.slice\n");
    writeFileSync(
      join(this.folder, "proc/self/mountinfo"),
      `31 23 0:28 / ${this.root} rw,relatime - cgroup2 cgroup2 rw\n`,
    );
  }

  hierarchy(): Promise<Hierarchy> {
    return readHierarchy({ root: this.root, proc: join(this.folder, "proc"), files: this });
  }

  read(file: string): string {
    return realFiles.read(file);
  }

  write(file: string, value: string): void {
    this.writes.push(`${file.slice(this.root.length + 1)} ${value}`);
    if (this.refuse?.file === file) throw this.error(this.refuse.errno, file);
    if (!existsSync(file)) throw this.error("ENOENT", file);
    if (this.ignore === file) return;
    if (basename(file) === "cgroup.subtree_control") this.enable(file, value.slice(1));
    else this.store(file, value);
  }

  private store(file: string, value: string): void {
    const isBytes = /^memory\.(max|high)$/.test(basename(file)) && value !== "max";
    writeFileSync(file, isBytes ? String(Number(value) - (Number(value) % PAGE_BYTES)) : value);
  }

  mkdir(folder: string): void {
    mkdirSync(folder);
    const offered =
      folder === this.root
        ? this.controllers.join(" ")
        : readFileSync(join(dirname(folder), "cgroup.subtree_control"), "utf8");
    writeFileSync(join(folder, "cgroup.controllers"), offered);
    writeFileSync(join(folder, "cgroup.subtree_control"), "");
    writeFileSync(join(folder, "cgroup.events"), "populated 0\nfrozen 0\n");
    for (const controller of offered.split(" ")) this.addFiles(folder, controller);
  }

  rmdir(folder: string): void {
    rmSync(folder, { recursive: true });
  }

  isWritable(file: string): boolean {
    return file !== this.refuse?.file && realFiles.isWritable(file);
  }

  children(folder: string): string[] {
    return realFiles.children(folder);
  }

  /** Removes the temporary folder. */
  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private enable(file: string, controller: string): void {
    const folder = dirname(file);
    if (!this.read(join(folder, "cgroup.controllers")).split(" ").includes(controller))
      throw this.error("ENOENT", file);
    const append = (path: string) => writeFileSync(path, `${this.read(path)} ${controller}`.trim());
    append(file);
    for (const child of this.children(folder)) {
      append(join(folder, child, "cgroup.controllers"));
      this.addFiles(join(folder, child), controller);
    }
  }

  private addFiles(folder: string, controller: string): void {
    for (const name of FILES[controller as keyof typeof FILES] ?? [])
      writeFileSync(join(folder, name), "max");
  }

  private error(errno: string, path: string): CgroupError {
    return new CgroupError("REFUSED", `fake ${errno}`, { hint: "fake", errno, path, syscall: "write" });
  }
}

/** Runs `body` with a fake kernel that is gone afterwards. */
export async function withFake(body: (kernel: FakeKernel) => Promise<void>): Promise<void> {
  const kernel = new FakeKernel();
  try {
    await body(kernel);
  } finally {
    kernel.close();
  }
}
