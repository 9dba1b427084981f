// A session from nothing: /bin/true to its end in both profiles, and an init that says go, against bubblewrap with the
// same namespaces on the same root. All are started by the same clone3.
import { closeSync } from "node:fs";
import { launchSession, runSession, spawnNative, sys } from "../../packages/nsexec/dist/index.js";
import { measure, report } from "../measure.mjs";
import { run, withStage } from "../stage.mjs";

export default async function launch(context) {
  const image = await context.image();
  const bwrap = (await run("sh", ["-c", "command -v bwrap"])).stdout.trim();
  return withStage({ home: context.home, image, profile: context.profile }, async ({ root, makePlan }) => {
    const peer = () =>
      timed(() => ended(spawnNative({ file: bwrap, argv: ["bwrap", ...flags(root)], fds: [] })));
    const truth = (profile) => async () => {
      const { env: _, ...plan } = await makePlan({ profile });
      const program = { file: "/bin/true", argv: ["true"] };
      return timed(async () => ended(await runSession({ ...plan, program })));
    };
    const go = async () => {
      const plan = await makePlan();
      const began = performance.now();
      const pending = await launchSession(plan);
      await pending.go();
      const overriddenDuration = performance.now() - began;
      await end(pending.initPid);
      return { overriddenDuration };
    };
    const bodies = { bwrap: peer, hardened: truth("hardened"), compat: truth("compat"), go };
    const times = await measure(bodies, { iterations: 60 });
    const against = { peer: times.bwrap, peerName: "bwrap /bin/true on the same root" };
    return [
      report({ name: "hardened /bin/true", own: times.hardened, ...against, goal: "ratio at most 1.5" }),
      report({ name: "compat /bin/true", own: times.compat, ...against, goal: "ratio at most 1.0" }),
      report({ name: "session launched to go", own: times.go, ...against, goal: "ratio at most 2" }),
    ];
  });
}

function flags(root) {
  const namespaces = ["--unshare-all", "--cap-drop", "ALL", "--die-with-parent"];
  return [...namespaces, "--ro-bind", root, "/", "--dev", "/dev", "--proc", "/proc", "/bin/true"];
}

async function timed(body) {
  const began = performance.now();
  await body();
  return { overriddenDuration: performance.now() - began };
}

async function ended(child) {
  const status = await child.exited;
  if (status.code !== 0) throw new Error(`ended with ${JSON.stringify(status)}`);
}

/** Its end is not part of the next one's time. */
async function end(pid) {
  const pidfd = sys.pidfdOpen(pid);
  sys.pidfdSendSignal(pidfd, "SIGKILL");
  await sys.pidfdWait(pidfd);
  closeSync(pidfd);
}
