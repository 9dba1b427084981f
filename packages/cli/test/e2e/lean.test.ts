import { readFile } from "node:fs/promises";
import { listPidNamespace } from "@drums/nsexec/proc";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { LEAN_SETTINGS, leanNames } from "../../src/recipes/index.js";
import { sessionFolder } from "../../src/session/store.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

testNeeding(
  DESKTOP_NEEDS,
  "a lean session's programs have the settings, and so have its siblings'",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const up = await drums(home, "up", "--image", path, "--lean", "all");
      expect(up).toMatchObject({ status: 0, document: { spec: { lean: ["arenas", "trim", "shaders"] } } });
      await drums(home, "checkpoint", up.document.id, "--name", "c");
      const forked = await drums(home, "fork", "c");
      expect(forked).toMatchObject({ status: 0, document: { failures: [] } });
      for (const id of [up.document.id, forked.document.siblings[0].id]) {
        const { init } = await sessionFolder(home, id).read();
        const terminal = (await listPidNamespace(init?.pid ?? 0)).find(({ name }) => name === "xterm");
        const environment = (await readFile(`/proc/${terminal?.pid}/environ`, "utf8")).split("\0");
        for (const setting of leanNames)
          for (const [variable, value] of Object.entries(LEAN_SETTINGS[setting]))
            expect(environment).toContain(`${variable}=${value}`);
      }
      await drums(home, "rm", up.document.id, forked.document.siblings[0].id);
    });
  },
);
