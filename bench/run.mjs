// Speeds on this machine: median, spread, and a ratio against a peer in the same run. `pnpm bench [PATTERN] [--compat]`
// [--desktop=gnome] [--counts=1,2,4,8] runs the files of bench/cases whose name holds PATTERN. Needs root, a built tree and bubblewrap.
import { readdir, rm, writeFile } from "node:fs/promises";
import * as drums from "../packages/cli/dist/index.js";

const say = (text) => process.stderr.write(`${text}\n`);
const pattern = process.argv.slice(2).find((word) => !word.startsWith("--")) ?? "";

const option = (name) => process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);

/** What every case gets: the home, the profile, and the sessions and checkpoints that several of them share. */
class Context {
  profile = process.argv.includes("--compat") ? "compat" : "hardened";
  /** The desktop of the cases that take any, and how many siblings they make at once. */
  desktop = option("desktop") ?? "openbox";
  counts = (option("counts") ?? "1,2,4,8").split(",").map(Number);
  quiet = { step: (_name, body) => body(), update: () => {} };
  #made = new Map();
  #undo = [];

  async open() {
    this.home = await drums.createHome(drums.findHome());
    return this;
  }

  image(name = "openbox") {
    return this.#once(`image ${name}`, async () => (await drums.buildImage(name, { home: this.home })).path);
  }

  criu() {
    return this.#once("criu", () => drums.criuFor(this.home, this.quiet));
  }

  /** A session of a desktop that is up for the whole run. */
  session(desktop = "openbox") {
    return this.#once(`session ${desktop}`, async () => {
      const image = await this.image(desktop);
      const up = await drums.upSession(this.home, { image, desktop, profile: this.profile });
      this.#undo.push(async () => {
        up.live.close();
        await drums.removeSession(this.home, up.folder);
      });
      return up;
    });
  }

  /** A checkpoint of {@link session}. */
  checkpoint(desktop = "openbox") {
    return this.#once(`checkpoint ${desktop}`, async () => {
      const { live } = await this.session(desktop);
      const name = `bench-${desktop}-${process.pid}`;
      const criu = await this.criu();
      this.#undo.push(() => rm(this.home.entry("checkpoints", name), { recursive: true, force: true }));
      await drums.createCheckpoint(this.home, live.record, { name, criu });
      return drums.loadCheckpoint(this.home, name, { criu });
    });
  }

  /** A checkpoint of {@link desktop} with its first application open. */
  openedCheckpoint() {
    return this.#once("opened checkpoint", async () => {
      const { live } = await this.session(this.desktop);
      const recipe = drums.findDesktop(this.desktop);
      const [application] = recipe.applications;
      if (application.argv !== undefined) await drums.openApplication(live, recipe, application);
      return this.checkpoint(this.desktop);
    });
  }

  async close() {
    for (const undo of this.#undo.reverse()) await undo();
  }

  #once(key, make) {
    if (!this.#made.has(key)) this.#made.set(key, make());
    return this.#made.get(key);
  }
}

const context = await new Context().open();
say(`profile ${context.profile}; the machine is shared and noisy: read ratios before milliseconds`);
const folder = new URL("cases/", import.meta.url);
const results = [];
try {
  for (const file of (await readdir(folder)).filter((name) => name.includes(pattern)).sort()) {
    say(`[${file}]`);
    const { default: run } = await import(new URL(file, folder));
    results.push(...[await run(context)].flat());
  }
} finally {
  await context.close();
}
await writeFile(
  new URL("results.json", import.meta.url),
  `${JSON.stringify({ profile: context.profile, at: new Date().toISOString(), results }, null, 2)}\n`,
);
