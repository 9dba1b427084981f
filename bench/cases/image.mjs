// From an image file to a root: its hash, the time to mounted, a cold read, and what a pass over it leaves in memory.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectRoots, digestImage, mountRoot } from "../../packages/rootfs/dist/index.js";
import { measure, report } from "../measure.mjs";
import { run } from "../stage.mjs";

const READ_MIB = 256;

export default async function image(context) {
  const folder = await mkdtemp(join(tmpdir(), "drums-bench-"));
  const [raw, qcow2] = [join(folder, "disk.raw"), join(folder, "disk.qcow2")];
  try {
    await run("qemu-img", ["convert", "-O", "raw", await context.image(), raw]);
    await run("qemu-img", ["convert", "-f", "raw", "-O", "qcow2", raw, qcow2]);
    const mounted = (path, way) => mountRoot({ image: path, way, stateDir: folder, holder: "bench" });
    const cached = { cacheDir: folder };
    return [
      await hashed(qcow2),
      await timeToMounted(
        async () => {
          await digestImage(qcow2, cached);
          return await mounted(qcow2, "fuse-export");
        },
        () => mounted(raw, "raw-loop"),
      ),
      await coldRead(await mounted(qcow2, "fuse-export"), await mounted(raw, "raw-loop")),
      await pageCache(await mounted(qcow2, "fuse-export")),
    ];
  } finally {
    await collectRoots({ stateDir: folder, liveHolders: [] });
    await rm(folder, { recursive: true });
  }
}

async function hashed(path) {
  const times = await measure(
    { drums: () => digestImage(path), sha256sum: () => run("sha256sum", [path]) },
    { iterations: 5, warmup: 1 },
  );
  const against = { peer: times.sha256sum, peerName: "sha256sum" };
  return report({ name: "sha256 of an image", own: times.drums, ...against, goal: "ratio at most 1.11" });
}

/** With the image's hash from the cache; without the release, which waits for a loop device and a daemon to end. */
async function timeToMounted(own, peer) {
  const timed = (mount) => async () => {
    const began = performance.now();
    const root = await mount();
    const overriddenDuration = performance.now() - began;
    await root.release();
    return { overriddenDuration };
  };
  const times = await measure({ drums: timed(own), raw: timed(peer) }, { iterations: 10 });
  const against = { peer: times.raw, peerName: "the same disk, raw, by a loop device" };
  return report({
    name: "qcow2 to mounted root, its hash cached",
    own: times.drums,
    ...against,
    goal: "at most 60 ms",
  });
}

/** By direct reads of the mounted device: nothing comes from the page cache. */
async function coldRead(own, peer) {
  const read = (device) =>
    run("dd", [`if=${device}`, "of=/dev/null", "bs=1M", "iflag=direct", `count=${READ_MIB}`, "status=none"]);
  try {
    const times = await measure(
      { drums: () => read(own.device), raw: () => read(peer.device) },
      { iterations: 7, warmup: 1 },
    );
    const against = { peer: times.raw, peerName: "the same disk, raw, by a loop device" };
    const name = `cold read of ${READ_MIB} MiB, plain qcow2`;
    return report({ name, own: times.drums, ...against, goal: "ratio at most 1.67 (0.6 of raw's speed)" });
  } finally {
    await own.release();
    await peer.release();
  }
}

/** One pass over all files of a root that was just mounted; other programs of the machine disturb the figure. */
async function pageCache(root) {
  try {
    const before = await cachedBytes();
    await run("sh", ["-c", `tar -C "${root.path}" --one-file-system -cf - . | cat >/dev/null`]);
    const grown = (await cachedBytes()) - before;
    const size = Number((await run("du", ["-sxB1", root.path])).stdout.split("\t")[0]);
    const ratio = Number((grown / size).toFixed(2));
    const goal = "at most 1.15 of its size";
    process.stdout.write(`page cache after one pass over a root: ${ratio} of its size; goal: ${goal}\n`);
    return { name: "page cache after one pass over a root", ratio, goal };
  } finally {
    await root.release();
  }
}

async function cachedBytes() {
  const text = await readFile("/proc/meminfo", "utf8");
  const kib = ["Cached", "Buffers"].map((name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(text)[1]),
  );
  return (kib[0] + kib[1]) * 1024;
}
