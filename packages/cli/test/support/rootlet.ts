import { chmod, copyFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { temporaryFolder } from "./temporary.js";

export interface RootletOptions {
  /** Paths left out. */
  readonly without?: readonly string[];
  /** Packages that dpkg's status names, with their versions. */
  readonly installed?: Readonly<Record<string, string>>;
}

/** A folder that is just enough of a root for an audit: a release, a user, /tmp, a message bus. */
export async function rootlet({ without = [], installed = {} }: RootletOptions = {}): Promise<string> {
  const root = await temporaryFolder();
  const files: Readonly<Record<string, string>> = {
    "/etc/os-release": 'PRETTY_NAME="Rootlet 1"\n',
    "/etc/passwd": "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n",
    "/var/lib/dpkg/status": Object.entries(installed).map(paragraph).join("\n"),
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  await mkdir(join(root, "tmp"));
  await chmod(join(root, "tmp"), 0o1777);
  await mkdir(join(root, "usr/bin"), { recursive: true });
  await copyFile("/bin/true", join(root, "usr/bin/dbus-daemon"));
  await symlink("usr/lib", join(root, "lib"));
  await mkdir(join(root, "usr/lib"));
  for (const path of without) await rm(join(root, path), { recursive: true });
  return root;
}

/** A package that depends on others, with empty files at the paths that are given. */
export async function makeControlDeb(
  name: string,
  depends: string,
  files: readonly string[] = [],
): Promise<string> {
  const folder = await temporaryFolder();
  const control = { Package: name, Version: "1", Architecture: "all", Maintainer: "test", Depends: depends };
  const lines = Object.entries({ ...control, Description: "test" }).map(([key, value]) => `${key}: ${value}`);
  await mkdir(join(folder, "tree/DEBIAN"), { recursive: true });
  await writeFile(join(folder, "tree/DEBIAN/control"), `${lines.join("\n")}\n`);
  for (const path of files) {
    await mkdir(dirname(join(folder, "tree", path)), { recursive: true });
    await writeFile(join(folder, "tree", path), "");
  }
  const file = join(folder, `${name}.deb`);
  await execa("dpkg-deb", ["--build", "--root-owner-group", join(folder, "tree"), file]);
  return file;
}

function paragraph([name, version]: [string, string]): string {
  return `Package: ${name}\nStatus: install ok installed\nVersion: ${version}\nArchitecture: all\n`;
}
