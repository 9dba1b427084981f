import { auditSession } from "../../packages/criu/dist/index.js";
import { measure, report } from "../measure.mjs";
import { run } from "../stage.mjs";

export default async function audit(context) {
  const { init, externals } = (await context.session()).live.record;
  const times = await measure({
    drums: () => auditSession({ initPid: init.pid, externals }),
    ls: () => run("ls", ["-l", `/proc/${init.pid}/fd`]),
  });
  const against = { peer: times.ls, peerName: "ls -l of one /proc/PID/fd" };
  return report({ name: "audit of a session", own: times.drums, ...against, goal: "at most 20 ms" });
}
