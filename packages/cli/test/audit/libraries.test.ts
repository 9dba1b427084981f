import { auditLibraries } from "@drums/rootfs";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import type { LiveSession } from "../../src/session/open.js";
import { removeSession } from "../../src/session/remove.js";
import { upSession } from "../../src/session/up.js";
import { GNOME_TIMEOUT_MS, withGnome } from "../support/gnome.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { IMAGE_TIMEOUT_MS, testImage } from "../support/test-image.js";

/** What the session's own loader says that it would load, in its order, asked as ldd asks. */
async function listedInside(live: LiveSession, loader: string, program: string): Promise<string[]> {
  const { stdout } = await live.withInit((init) =>
    init.run({ argv: [loader, program], env: { LD_TRACE_LOADED_OBJECTS: "1" }, uid: 1000 }),
  );
  return stdout
    .toString()
    .split("\n")
    .map((line) => line.trim().replace(/ \(0x[0-9a-f]+\)$/, ""))
    .filter((line) => line !== "" && !line.startsWith("linux-vdso"))
    .map((line) => line.split(" => ").at(-1) ?? line);
}

/** The audit reads the session's overlay, layers and all; the session is ours and lies still meanwhile. */
async function expectSameLibraries(live: LiveSession, programs: readonly string[]): Promise<void> {
  const root = `/proc/${live.record.init?.pid}/root`;
  for (const program of programs) {
    const audit = await auditLibraries(root, { program });
    expect(audit.missing, program).toEqual([]);
    const theirs = await listedInside(live, audit.interpreter ?? "", audit.program);
    expect(
      audit.libraries.map(({ path }) => path),
      program,
    ).toEqual(theirs);
    expect(theirs.length, program).toBeGreaterThan(2);
  }
}

testNeeding(
  DESKTOP_NEEDS,
  "an openbox session's programs have the libraries that its own loader lists, Xvfb's from a layer",
  () =>
    withTestHome(async (home) => {
      const { path, sha256 } = await testImage();
      const up = await upSession(home, { image: path, expectedSha256: sha256, desktop: "openbox" });
      try {
        await expectSameLibraries(up.live, [
          "/usr/bin/xterm",
          "/usr/bin/openbox",
          "/usr/bin/Xvfb",
          "/usr/bin/python3",
        ]);
      } finally {
        up.live.close();
        await removeSession(home, up.folder);
      }
    }),
  IMAGE_TIMEOUT_MS,
);

testNeeding(
  DESKTOP_NEEDS,
  "GNOME Shell, Writer, Xvfb and python3 have the libraries that the image's own loader lists",
  () =>
    withGnome({}, ({ live }) =>
      expectSameLibraries(live, [
        "/usr/bin/gnome-shell",
        "/usr/lib/libreoffice/program/soffice.bin",
        "/usr/bin/Xvfb",
        "/usr/bin/python3",
      ]),
    ),
  GNOME_TIMEOUT_MS,
);
