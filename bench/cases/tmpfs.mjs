import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump } from "../../packages/criu/dist/index.js";
import { measure, report } from "../measure.mjs";

const MIB = 64;

/** A dump of a desktop with much in its /tmp, kept plain and packed by gzip. */
export default async function tmpfs(context) {
  const { live } = await context.session();
  const { init, externals } = live.record;
  const criu = await context.criu();
  const file = `/tmp/bench-${process.pid}`;
  const inside = (command) =>
    live.withInit((one) =>
      one.run({ argv: ["/bin/sh", "-c", command], env: { PATH: "/usr/bin:/bin" }, uid: 0, gid: 0 }),
    );
  await inside(`head -c ${MIB}M /dev/urandom > ${file}`);
  const dumped = (plainTmpfs) => async () => {
    const folder = await mkdtemp(join(tmpdir(), "drums-bench-dump-"));
    try {
      const flags = { plainTmpfs, tcpEstablished: true };
      const { totalMs } = await dump({ criu, pid: init.pid, imagesDir: folder, externals, flags });
      return { overriddenDuration: totalMs };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  try {
    const times = await measure({ plain: dumped(true), packed: dumped(false) }, { iterations: 5, warmup: 1 });
    const against = { peer: times.packed, peerName: "the same packed by gzip" };
    return report({
      name: `dump with ${MIB} MiB in /tmp`,
      own: times.plain,
      ...against,
      goal: "ratio at most 0.3",
    });
  } finally {
    await inside(`rm ${file}`);
  }
}
