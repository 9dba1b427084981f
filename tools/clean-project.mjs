// Writes an empty project that depends on one packed tarball and imports all of it, at run time and in types.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [name, tarballs, project] = process.argv.slice(2);
const files = Object.fromEntries(
  readdirSync(tarballs)
    .filter((file) => file.endsWith(".tgz"))
    .map((file) => [`@${file.replace(/-\d.*$/, "").replace("-", "/")}`, `file:${join(tarballs, file)}`]),
);
const { [name]: own, ...others } = files;
const root = JSON.parse(readFileSync("package.json", "utf8"));
const write = (file, text) => writeFileSync(join(project, file), text);
write(
  "package.json",
  JSON.stringify({
    type: "module",
    private: true,
    dependencies: { [name]: own },
    devDependencies: {
      typescript: root.devDependencies.typescript,
      "@types/node": root.devDependencies["@types/node"],
    },
    overrides: others,
  }),
);
write(
  "import.mjs",
  `import * as it from "${name}";\nif (Object.keys(it).length === 0) throw new Error("${name} exports nothing");\n`,
);
write(
  "import.ts",
  `import * as it from "${name}";\nconst names: string[] = Object.keys(it);\nexport default names;\n`,
);
write(
  "tsconfig.json",
  JSON.stringify({
    compilerOptions: { module: "NodeNext", target: "ES2022", strict: true, noEmit: true, types: ["node"] },
    include: ["import.ts"],
  }),
);
