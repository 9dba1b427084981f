import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountRoot } from "@drums/rootfs";
import { execa } from "execa";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { X_SERVER_PACKAGES, xServerLayer } from "../../src/layers/index.js";
import { xServerNames } from "../../src/recipes/index.js";
import { IMAGE_TIMEOUT_MS, sharedHome, testImage } from "../support/test-image.js";

const NEEDS: readonly Need[] = [
  ...(["root", "fuse", "loop"] as const),
  ...(["program:mmdebstrap", "program:qemu-img", "program:qemu-storage-daemon"] as const),
  ...(["program:apt-get", "program:dpkg-deb", "program:unshare"] as const),
];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "drums-xvfb-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test.each(xServerNames)(
  "every package of %s is pinned by version and sha256, none brings Mesa or LLVM",
  (name) => {
    const packages = X_SERVER_PACKAGES[name];
    for (const { version, sha256, suites } of packages) {
      expect(version).toMatch(/^\S+$/);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(suites.length).toBeGreaterThan(0);
    }
    expect(packages.filter((one) => /mesa|llvm|dri$/.test(one.name))).toEqual([]);
  },
);

/** Runs in namespaces of its own: the X server says on a descriptor which display it serves, then it is ended. */
const START_XVFB = `
  set -e
  mount -t overlay overlay -o "lowerdir=$LAYER:$ROOT,upperdir=$DIR/upper,workdir=$DIR/work" "$DIR/merged"
  mount -t proc proc "$DIR/merged/proc"
  mount -t tmpfs -o mode=1777 tmpfs "$DIR/merged/tmp"
  mkdir -m 1777 "$DIR/merged/tmp/.X11-unix"
  mount -t tmpfs tmpfs "$DIR/merged/dev"
  mknod -m 666 "$DIR/merged/dev/null" c 1 3
  mknod -m 666 "$DIR/merged/dev/urandom" c 1 9
  exec chroot --userspec=1000:1000 "$DIR/merged" sh -c '
    Xvfb :7 -screen 0 640x480x24 -fbdir /tmp -nolisten tcp -noreset +extension GLX -displayfd 3 3>/tmp/display &
    while [ ! -s /tmp/display ]; do kill -0 $!; sleep 0.05; done
    echo "display $(cat /tmp/display)"
    ls /tmp/Xvfb_screen0
    kill $!'
`;

testNeeding(
  NEEDS,
  "over the image's root, which has none, the layer's Xvfb finds its libraries and serves a display",
  async () => {
    const { path: image } = await testImage();
    const root = await mountRoot({ image, stateDir: dir, holder: "test" });
    try {
      const layer = await xServerLayer({ home: await sharedHome(), root: root.path });
      await execa("mkdir", ["upper", "work", "merged"], { cwd: dir });
      const env = { LAYER: layer.path, ROOT: root.path, DIR: dir };
      const contained = ["--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child=KILL"];
      const { stdout } = await execa("unshare", [...contained, "sh", "-c", START_XVFB], { env });
      expect(stdout.split("\n")).toEqual(["display 7", "/tmp/Xvfb_screen0"]);
    } finally {
      await root.release();
    }
  },
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  NEEDS,
  "the layer says which packages it came from, hides no link of the root and is made once",
  async () => {
    const { path: image } = await testImage();
    const root = await mountRoot({ image, stateDir: dir, holder: "test" });
    try {
      const options = { home: await sharedHome(), root: root.path };
      const layer = await xServerLayer(options);
      expect(layer.debs.map(({ name }) => name)).toEqual(X_SERVER_PACKAGES.xvfb.map(({ name }) => name));
      for (const { sha256, expectedSha256 } of layer.debs) expect(sha256).toBe(expectedSha256);
      // A package that still brings ./lib would cover the root's link to /usr/lib.
      expect((await readdir(layer.path)).sort()).toEqual(["usr", "var"]);
      const details: string[] = [];
      const onDetail = (detail: string) => details.push(detail);
      expect(await xServerLayer({ ...options, onDetail })).toEqual(layer);
      expect(details).toEqual([]);
    } finally {
      await root.release();
    }
  },
  IMAGE_TIMEOUT_MS,
);
