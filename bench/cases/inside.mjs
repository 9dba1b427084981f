// Into a running session: a program through init, and a file by the safe door.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measure, report } from "../measure.mjs";
import { run } from "../stage.mjs";

export default async function inside(context) {
  const { live } = await context.session();
  return live.withInit((init) => measured(init, live.root));
}

async function measured(init, root) {
  const env = { PATH: "/usr/bin:/bin" };
  await init.run({ argv: ["dd", "if=/dev/urandom", "of=/tmp/bench-file", "bs=1024", "count=1"], env });
  const folder = await mkdtemp(join(tmpdir(), "drums-bench-"));
  const file = join(folder, "file");
  await writeFile(file, Buffer.alloc(1024, 1));
  try {
    const times = await measure(
      {
        exec: () => init.run({ argv: ["/bin/true"], env }),
        spawn: () => run("/bin/true"),
        read: () => root.readFile("/tmp/bench-file"),
        plain: () => readFile(file),
      },
      { iterations: 200 },
    );
    return [
      report({
        name: "exec through init, /bin/true to its status",
        own: times.exec,
        peer: times.spawn,
        peerName: "Node's execFile of /bin/true on the host",
        goal: "at most 3 ms",
      }),
      report({
        name: "safe read of a file of 1 KiB",
        own: times.read,
        peer: times.plain,
        peerName: "fs.readFile of one",
        goal: "at most 0.3 ms",
      }),
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}
