import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProfileName } from "@drums/nsexec";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

for (const profile of ["hardened", "compat"] satisfies ProfileName[])
  testNeeding(
    [...DESKTOP_NEEDS, "program:zstd"],
    `a ${profile} checkpoint of a sibling goes as one file into another home and lives on there`,
    async () => {
      const { path } = await testImage();
      const folder = await mkdtemp(join(tmpdir(), "drums-export-"));
      const file = join(folder, "second.drums");
      try {
        await withTestHome(async (home) => {
          const up = await drums(home, "up", "--image", path, "--profile", profile);
          await drums(home, "checkpoint", up.document.id, "--name", "first");
          const forked = await drums(home, "fork", "first");
          const [sibling] = forked.document.siblings;
          const said = await drums(home, "exec", sibling.id, "--", "sh", "-c", "echo kept > /home/user/said");
          expect(said.status).toBe(0);
          expect(await drums(home, "checkpoint", sibling.id, "--name", "second")).toMatchObject({
            status: 0,
          });

          const found = await drums(home, "checkpoint", "inspect", "second");
          expect(found).toMatchObject({ status: 0, document: { name: "second", profile } });
          const names = found.document.processes.map(({ name }: { name: string }) => name);
          expect(names).toEqual(expect.arrayContaining(["drums-init", "Xvfb", "openbox"]));
          expect(await drums(home, "checkpoint", "export", "second", file, "--zstd")).toMatchObject({
            status: 0,
            document: { file, layers: 4 },
          });
        });
        await withTestHome(async (home) => {
          expect(await drums(home, "checkpoint", "import", file, "--name", "moved")).toMatchObject({
            status: 0,
            document: { name: "moved", image: path },
          });
          const forked = await drums(home, "fork", "moved", "--count", "2");
          expect(forked).toMatchObject({ status: 0, document: { failures: [] } });
          for (const { id } of forked.document.siblings)
            expect(await drums(home, "exec", id, "--", "cat", "/home/user/said")).toMatchObject({
              document: { stdout: "kept\n" },
            });
        });
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    120_000,
  );
