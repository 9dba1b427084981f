import { copyFile, mkdir, readlink, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { execa } from "execa";
import { auditLibraries } from "../../src/index.js";

/** A merged-/usr root with this machine's own python3, its standard library and what they are linked with. */
export async function pythonRoot(folder: string): Promise<string> {
  const root = join(folder, "root");
  const { program, interpreter = "", libraries } = await auditLibraries("/", { program: "/usr/bin/python3" });
  for (const path of ["usr/bin", "usr/lib64", "etc", "proc", "sys", "dev", "run", "tmp", "opt"])
    await mkdir(join(root, path), { recursive: true });
  for (const name of ["bin", "lib", "lib64"]) await symlink(`usr/${name}`, join(root, name));
  for (const { path, file } of libraries) {
    const target = join(root, "usr/lib", basename(dirname(file)), basename(path));
    await mkdir(dirname(target), { recursive: true });
    await copyFile(file, target);
  }
  const loader = libraries.find(({ route }) => route === "interpreter");
  const real = `/usr/lib/${basename(dirname(loader?.file ?? ""))}/${basename(loader?.path ?? "")}`;
  await symlink(real, join(root, interpreter)).catch(() => {});
  await copyFile(program, join(root, program));
  await symlink(await readlink("/usr/bin/python3"), join(root, "usr/bin/python3"));
  await execa("cp", ["-a", `/usr/lib/${basename(program)}`, join(root, "usr/lib")]);
  return root;
}
