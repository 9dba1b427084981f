import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dump } from "../../packages/criu/dist/index.js";
import { measure, report } from "../measure.mjs";

/** A dump with CRIU's log of errors and warnings, as drums makes it, against one that logs everything. */
export default async function logs(context) {
  const { init, externals } = (await context.session()).live.record;
  const criu = await context.criu();
  const bytes = {};
  const dumped = (logLevel) => async () => {
    const folder = await mkdtemp(join(tmpdir(), "drums-bench-dump-"));
    try {
      const flags = { tcpEstablished: true };
      const { frozenMs, logFile } = await dump({
        criu,
        pid: init.pid,
        imagesDir: folder,
        externals,
        flags,
        logLevel,
      });
      bytes[logLevel] = (await stat(logFile)).size;
      return { overriddenDuration: frozenMs };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  const times = await measure({ small: dumped(2), all: dumped(4) }, { iterations: 10, warmup: 1 });
  const against = { peer: times.all, peerName: `log level 4 (${bytes[4]} bytes, not ${bytes[2]})` };
  return report({ name: "frozen for a dump", own: times.small, ...against, goal: "ratio below 1" });
}
