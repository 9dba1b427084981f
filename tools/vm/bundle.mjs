// bundle.mjs SUFFIX [PATTERN…]: the tests whose path ends in the suffix and holds one of the patterns (default: all), as
// one file that the guest's Node runs without compiling: node_modules/.drums-vm/tests.mjs. Prints how many files are in it.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const TOP = fileURLToPath(new URL("../..", import.meta.url));
const OUT = join(TOP, "node_modules/.drums-vm/tests.mjs");
/** Where the guest has this repository. */
const SHARE = "/share";

/** A bundled file keeps its own address: tests and packages find their files by it. */
const ownAddress = {
  name: "own-address",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const url = pathToFileURL(join(SHARE, relative(TOP, path))).href;
      return {
        contents: readFileSync(path, "utf8").replaceAll("import.meta.url", JSON.stringify(url)),
        loader: "ts",
        resolveDir: dirname(path),
      };
    });
  },
};

const suite = (file) => `describe(${JSON.stringify(file)}, () => import("./${file}"));\n`;

const [ending, ...patterns] = process.argv.slice(2);
const files = readdirSync(join(TOP, "packages"))
  .map((name) => `packages/${name}/test`)
  .flatMap((folder) => readdirSync(join(TOP, folder), { recursive: true }).map((file) => `${folder}/${file}`))
  .filter((file) => file.endsWith(ending))
  .filter((file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)))
  .sort();
mkdirSync(dirname(OUT), { recursive: true });
await build({
  stdin: { contents: `import { describe } from "node:test";\n${files.map(suite).join("")}`, resolveDir: TOP },
  bundle: true,
  outfile: OUT,
  format: "esm",
  platform: "node",
  target: "node20",
  conditions: ["@drums/source"],
  alias: { vitest: join(TOP, "tools/vm/guest-vitest.ts") },
  plugins: [ownAddress],
  // CommonJS packages in the bundle ask for Node's own modules by require.
  banner: {
    js: 'import * as nodeModule from "node:module"; const require = nodeModule.createRequire(import.meta.url);',
  },
  logLevel: "warning",
});
process.stdout.write(`${files.length}\n`);
