import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { crc32 } from "../../src/image/crc32.js";
import { pythonLayer, RootfsError } from "../../src/index.js";
import { consoleScripts, readWheel } from "../../src/layers/wheel.js";
import { readZip } from "../../src/layers/zip.js";
import { runInRoot } from "../helpers/in-root.js";
import { pythonRoot } from "../helpers/python-root.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

const WHEELS = "/usr/share/python-wheels";
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** A zip archive, deflated, by hand: a hostile one can have any name and mode. */
function zip(files: Readonly<Record<string, string>>, mode = 0o100644): Buffer {
  const [bodies, directory]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [label, content] = [Buffer.from(name), Buffer.from(text)];
    const packed = deflateRawSync(content);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(label.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt8(3, 5);
    entry.writeUInt16LE(8, 10);
    for (const [offset, value] of [
      [16, crc32(content)],
      [20, packed.length],
      [24, content.length],
      [42, at],
    ] as const)
      entry.writeUInt32LE(value, offset);
    entry.writeUInt16LE(label.length, 28);
    entry.writeUInt32LE((mode << 16) >>> 0, 38);
    bodies.push(head, label, packed);
    directory.push(entry, label);
    at += head.length + label.length + packed.length;
  }
  const table = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(table.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, table, end]);
}

const INFO = "sample-1.0.dist-info";

function wheel(files: Readonly<Record<string, string>>, mode?: number): Buffer {
  const rows = Object.entries(files).map(
    ([name, text]) =>
      `${name},sha256=${createHash("sha256").update(text).digest("base64url")},${text.length}\n`,
  );
  return zip({ ...files, [`${INFO}/RECORD`]: `${rows.join("")}${INFO}/RECORD,,\n` }, mode);
}

const SAMPLE = {
  "sample/__init__.py": "def main():\n    print('hello from the layer')\n",
  [`${INFO}/METADATA`]: "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n",
  [`${INFO}/WHEEL`]: "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  [`${INFO}/entry_points.txt`]: "[other]\nno = a:b\n[console_scripts]\nsay-hello = sample:main [extra]\n",
};

testNeeding(
  ["root", `file:${WHEELS}`, "file:/usr/bin/python3"],
  "packages of wheels and pip are importable in a session, without ensurepip and network",
  async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "sample-1.0-py3-none-any.whl");
    await writeFile(path, wheel(SAMPLE));
    const pip = (await readdir(WHEELS)).find((name) => name.startsWith("pip-")) ?? "";
    const wheels = await Promise.all(
      [path, join(WHEELS, pip)].map(async (file) => ({ path: file, sha256: sha256(await readFile(file)) })),
    );
    const [root, target] = [await pythonRoot(folder), join(folder, "layer")];
    const layer = await pythonLayer({ root, wheels, target });
    expect(layer.distributions).toEqual(["sample 1.0", expect.stringMatching(/^pip \d/)]);
    const inside = async (...argv: [string, ...string[]]) => (await runInRoot([root, target], argv)).trim();
    expect(await inside(layer.python, "-c", "import sample; sample.main()")).toBe("hello from the layer");
    expect(await inside("/opt/drums-python/bin/say-hello")).toBe("hello from the layer");
    const listed = await inside(
      layer.python,
      "-m",
      "pip",
      "list",
      "--format=freeze",
      "--disable-pip-version-check",
    );
    expect(listed).toContain("sample==1.0");
    expect(await inside(layer.python, "-c", "import sys; print(sys.prefix)")).toBe("/opt/drums-python");
  },
);

testNeeding(
  ["root"],
  "the root's own Python is asked for its version by its name; without one it is refused",
  async () => {
    const folder = await temporaryFolder();
    const root = join(folder, "root");
    await mkdir(join(root, "usr/bin"), { recursive: true });
    await failure(() => pythonLayer({ root, wheels: [], target: join(folder, "a") }), "NO_SUCH_PROGRAM");
    await writeFile(join(root, "usr/bin/python3.10"), "");
    await symlink("python3.10", join(root, "usr/bin/python3"));
    const { version, python } = await pythonLayer({
      root,
      wheels: [],
      target: join(folder, "b"),
      prefix: "/srv/env",
    });
    expect([version, python]).toEqual(["3.10", "/srv/env/bin/python3"]);
    expect(await readFile(join(folder, "b/srv/env/pyvenv.cfg"), "utf8")).toContain("home = /usr/bin\n");
    const path = join(folder, "sample-1.0-py3-none-any.whl");
    await writeFile(path, wheel(SAMPLE));
    const wheels = [{ path, sha256: "0".repeat(64) }];
    await failure(() => pythonLayer({ root, wheels, target: join(folder, "c") }), "WHEEL_DIGEST_MISMATCH");
  },
);

const HOSTILE: Readonly<Record<string, Buffer>> = {
  "a name with ..": wheel({ "../evil.py": "x" }),
  "an absolute name": wheel({ "/etc/evil": "x" }),
  "a link": wheel({ "sample/link": "/etc/passwd" }, 0o120777),
  "scripts outside of site-packages": wheel({ "sample-1.0.data/scripts/x": "x" }),
  "a file that its RECORD does not know": zip({ "sample/x.py": "x", [`${INFO}/RECORD`]: "" }),
  "a file that is not what its RECORD says": zip({
    "sample/x.py": "x",
    [`${INFO}/RECORD`]: "sample/x.py,sha256=AAAA,1\n",
  }),
  "no RECORD": zip({ "sample/x.py": "x" }),
};

for (const [what, bytes] of Object.entries(HOSTILE))
  test(`a wheel with ${what} is refused`, async () => {
    const options = { file: "sample-1.0-py3-none-any.whl", version: "3.11" };
    await failure(() => readWheel(bytes, options), "WHEEL_UNSUITABLE");
  });

test("a wheel must be for the root's Python and this machine", async () => {
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
  const tagged = (tags: string) => () =>
    readWheel(wheel(SAMPLE), { file: `sample-1.0-${tags}.whl`, version: "3.11" });
  for (const tags of [
    "py2.py3-none-any",
    `cp311-cp311-manylinux_2_17_${machine}`,
    `cp38-abi3-linux_${machine}`,
  ])
    expect(tagged(tags)().name).toBe("sample 1.0");
  for (const tags of [
    "py2-none-any",
    "cp312-cp312-linux_x86_64",
    "cp39-cp39-any",
    "py3-none-win_amd64",
    "any",
  ])
    await failure(tagged(tags), "WHEEL_UNSUITABLE");
});

test("an archive is read or refused whatever its bytes, and unfolds to no more than it announces", async () => {
  const good = wheel(SAMPLE);
  const changes = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(changes, (bytes) => {
      const spoilt = Buffer.from(good);
      for (const [at, value] of bytes) spoilt[at] = value;
      try {
        for (const entry of readZip(spoilt)) entry.content();
      } catch (error) {
        expect(error).toBeInstanceOf(RootfsError);
      }
    }),
    { numRuns: 300 },
  );
  const bomb = zip({ big: "0".repeat(1 << 20) });
  bomb.writeUInt32LE(10, bomb.length - 22 - 46 - 3 + 24);
  await failure(() => readZip(bomb)[0]?.content(), "WHEEL_UNREADABLE");
});

test("entry points: only console scripts, without their extras", () => {
  expect([...consoleScripts("[gui_scripts]\na = b:c\n[console_scripts]\nx = y.z:f.g [e]\nbad\n")]).toEqual([
    ["x", { module: "y.z", object: "f.g" }],
  ]);
});
