import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measure, report } from "../measure.mjs";

export default async function screenshot(context) {
  const { live } = await context.session();
  const folder = await mkdtemp(join(tmpdir(), "drums-bench-"));
  try {
    const file = join(folder, "frame");
    await writeFile(file, Buffer.alloc(1280 * 800 * 4));
    const times = await measure(
      { drums: () => live.rawFrame(), rgba: () => live.frame(), file: () => readFile(file) },
      { iterations: 100 },
    );
    const against = { peer: times.file, peerName: "reading a file of that size" };
    return [
      report({ name: "screenshot as RGBA", own: times.rgba, ...against, goal: "none" }),
      report({ name: "raw screenshot, 1280×800", own: times.drums, ...against, goal: "at most 2 ms" }),
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}
