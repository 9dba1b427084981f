import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { createCheckpoint } from "../../src/checkpoint/create.js";
import { loadCheckpoint } from "../../src/checkpoint/load.js";
import { restoreSibling } from "../../src/fork/sibling.js";
import { USER } from "../../src/session/paths.js";
import { upSession } from "../../src/session/up.js";
import { waitFor } from "../../src/session/wait-for.js";
import { DESKTOP_NEEDS, testCriu, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

/**
 * Many processes map files that are deleted, on two filesystems, and files of the same names are there again: as with
 * dconf's in GNOME. Now and then a restore of it meets CRIU's own race (rule `ghost-race`) and is made again.
 */
const MAPPERS = `import mmap, os, time
folders = ["/home/user/deleted", "/run/user/1000/deleted"]
for folder in folders: os.makedirs(folder)
def put(text):
    for folder in folders:
        with open(folder + "/new", "w") as f: f.write(text)
        os.rename(folder + "/new", folder + "/file")
def take(folder):
    with open(folder + "/file", "r+") as f: return mmap.mmap(f.fileno(), 0)
for i in range(24):
    if i % 4 == 0: put("kept %d" % i)
    read, write = os.pipe()
    if os.fork() == 0:
        maps = [take(folder) for folder in folders]
        os.write(write, b"x")
        while True:
            time.sleep(0.2)
            if os.path.exists("/tmp/ask"):
                with open("/tmp/answer%d" % i, "w") as f: f.write(" ".join(m[:].decode() for m in maps) + "\\n")
    os.read(read, 1)
put("new")
open("/tmp/mapped", "w").close()
while True: time.sleep(1)
`;

testNeeding(
  DESKTOP_NEEDS,
  "siblings whose processes share deleted files of replaced names are all restored, each with its own content",
  async () => {
    const { path, sha256 } = await testImage();
    await withTestHome(async (home) => {
      const request = { image: path, expectedSha256: sha256, desktop: "openbox" };
      const { live } = await upSession(home, request);
      const { uid, gid, home: cwd } = USER;
      const env = { PATH: "/usr/bin:/bin" };
      await live.withInit((init) => init.spawn({ argv: ["python3", "-c", MAPPERS], env, uid, gid, cwd }));
      await waitFor(async () => (await live.root.stat("/tmp/mapped")) !== undefined, { what: "24 mappers" });
      const criu = await testCriu();
      await createCheckpoint(home, live.record, { name: "mapped", criu });
      const checkpoint = await loadCheckpoint(home, "mapped", { criu });
      for (let round = 0; round < 2; round++) {
        const siblings = await Promise.all([1, 2].map(() => restoreSibling(home, checkpoint, { criu })));
        for (const { live: sibling } of siblings) {
          await sibling.withInit((init) => init.run({ argv: ["touch", "/tmp/ask"], env, uid, gid }));
          const answers = new Set<string>();
          for (let i = 0; i < 24; i++)
            await waitFor(
              async () => {
                const answer = (await sibling.root.readFile(`/tmp/answer${i}`)).toString();
                answers.add(`${Math.floor(i / 4)}: ${answer}`);
                return answer.endsWith("\n");
              },
              { what: `the answer of mapper ${i}` },
            );
          expect([...answers].sort()).toEqual(
            [0, 1, 2, 3, 4, 5].map((group) => `${group}: kept ${group * 4} kept ${group * 4}\n`),
          );
          sibling.close();
        }
      }
      live.close();
    });
  },
);
