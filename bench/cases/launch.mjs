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
    const peer = (namespaces) => () => {
      const argv = ["bwrap", ...namespaces, ...flags(root)];
      return timed(() => ended(spawnNative({ file: bwrap, argv, fds: [] })));
    };
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
    const bodies = {
      withUser: peer(["--unshare-all"]),
      withoutUser: peer(WITHOUT_USER),
      hardened: truth("hardened"),
      compat: truth("compat"),
      go,
    };
    const times = await measure(bodies, { iterations: 60 });
    const peerName = "bwrap /bin/true on the same root with the same namespaces";
    const ours = (name, own, peer, goal) => report({ name, own, peer, peerName, goal });
    return [
      ours("hardened /bin/true", times.hardened, times.withUser, "ratio at most 1.5"),
      ours("compat /bin/true", times.compat, times.withoutUser, "ratio at most 1.0"),
      ours("session launched to go", times.go, times.withUser, "ratio at most 2"),
    ];
  });
}

/** What --unshare-all is, but for the user namespace. */
const WITHOUT_USER = ["ipc", "pid", "net", "uts", "cgroup"].map((kind) => `--unshare-${kind}`);

function flags(root) {
  return [
    "--cap-drop",
    "ALL",
    "--die-with-parent",
    "--ro-bind",
    root,
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "/bin/true",
  ];
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
