import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodePng } from "@drums/readiness";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { endProcess } from "../../src/session/end-process.js";
import { drums } from "../support/drums.js";
import { DESKTOP_NEEDS, withTestHome } from "../support/test-home.js";
import { testImage } from "../support/test-image.js";

testNeeding(DESKTOP_NEEDS, "up, ps, exec, shot, checkpoint, fork and rm do what they say", async () => {
  const { path, sha256 } = await testImage();
  const pictures = await mkdtemp(join(tmpdir(), "drums-shot-"));
  await withTestHome(async (home) => {
    const up = await drums(home, "up", "--image", path, "--sha256", sha256);
    expect(up).toMatchObject({ status: 0, document: { verdict: { ready: true } } });
    const id: string = up.document.id;

    expect((await drums(home, "ps")).document.sessions).toMatchObject([{ id, standing: "running" }]);

    const said = await drums(home, "exec", id, "--", "id", "-u");
    expect(said).toMatchObject({ status: 0, document: { code: 0, stdout: "1000\n" } });
    const failed = await drums(home, "exec", "--root", id, "--", "sh", "-c", "exit 7");
    expect(failed).toMatchObject({ status: 1, document: { code: 7 } });

    const shot = await drums(home, "shot", id, "--out", join(pictures, "a.png"));
    expect(shot.status).toBe(0);
    expect(await decodePng(await readFile(join(pictures, "a.png")))).toMatchObject({
      width: 1280,
      height: 800,
    });

    expect(await drums(home, "judge", join(pictures, "a.png"))).toMatchObject({
      status: 0,
      document: { name: "ready" },
    });
    const logs = await drums(home, "logs", id, "system-bus");
    expect(logs).toMatchObject({
      status: 0,
      document: { session: id, logs: { "system-bus": expect.any(String) } },
    });

    expect(await drums(home, "checkpoint", id, "--name", "c1")).toMatchObject({ status: 0 });
    expect(await drums(home, "checkpoint", id, "--name", "c1")).toMatchObject({
      status: 2,
      document: { error: { code: "CHECKPOINT_EXISTS" } },
    });

    const fork = await drums(home, "fork", "c1", "--count", "2");
    expect(fork).toMatchObject({ status: 0, document: { failures: [] } });
    const siblings: string[] = fork.document.siblings.map((one: { id: string }) => one.id);
    expect(new Set(siblings).size).toBe(2);

    const upper = join(home.checkpoints, "c1", "upper");
    expect(await drums(home, "rm", "c1")).toMatchObject({
      status: 0,
      document: { removed: ["c1"], kept: [{ name: "c1", keptFor: [...siblings].sort() }] },
    });
    expect((await drums(home, "ps")).document.checkpoints).toEqual([]);
    expect(await readdir(join(home.checkpoints, "c1"))).toEqual(["deleted.json", "upper"]);
    expect(await drums(home, "fork", "c1")).toMatchObject({
      status: 2,
      document: { error: { code: "NO_CHECKPOINT" } },
    });
    expect(await drums(home, "checkpoint", id, "--name", "c1")).toMatchObject({
      status: 2,
      document: { error: { code: "CHECKPOINT_EXISTS" } },
    });
    const [first = "", second = ""] = siblings;
    expect(await drums(home, "exec", first, "--", "cat", "/etc/hostname")).toMatchObject({ status: 0 });
    expect((await drums(home, "checkpoint", second, "--name", "c2")).document).toMatchObject({ name: "c2" });
    expect(await drums(home, "rm", id, ...siblings)).toMatchObject({ status: 0 });
    expect(await drums(home, "gc")).toMatchObject({ document: { checkpoints: [] } });
    expect(existsSync(upper)).toBe(true);
    const again = await drums(home, "fork", "c2");
    expect(again).toMatchObject({ status: 0, document: { failures: [] } });
    expect(await drums(home, "rm", "c2", again.document.siblings[0].id)).toMatchObject({ status: 0 });
    expect(await readdir(home.checkpoints)).toEqual([]);
    expect((await drums(home, "ps")).document).toEqual({ sessions: [], checkpoints: [], pools: [] });
    expect(await drums(home, "gc")).toMatchObject({
      status: 0,
      document: { sessions: [], checkpoints: [], roots: [], layers: [], failures: [] },
    });
  });
  await rm(pictures, { recursive: true });
});

testNeeding(
  DESKTOP_NEEDS,
  "gc takes down a session whose init was killed, and spares the living",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const [dead, living] = [
        await drums(home, "up", "--image", path),
        await drums(home, "up", "--image", path),
      ];
      await endProcess(dead.document.init);
      const collected = await drums(home, "gc");
      expect(collected).toMatchObject({
        status: 0,
        document: { sessions: [dead.document.id], failures: [] },
      });
      expect((await drums(home, "ps")).document.sessions).toMatchObject([
        { id: living.document.id, standing: "running" },
      ]);
      expect(await drums(home, "rm", living.document.id)).toMatchObject({ status: 0 });
    });
  },
);

testNeeding(
  DESKTOP_NEEDS,
  "a command that starts something takes down first what a dead owner left",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const dead = await drums(home, "up", "--image", path);
      await endProcess(dead.document.init);
      const next = await drums(home, "up", "--image", path);
      expect(next).toMatchObject({ status: 0, err: expect.stringContaining(dead.document.id) });
      expect((await drums(home, "ps")).document.sessions).toMatchObject([{ id: next.document.id }]);
    });
  },
);

testNeeding(["root"], "what does not exist is a usage error that names it", async () => {
  await withTestHome(async (home) => {
    expect(await drums(home, "exec", "nobody", "--", "true")).toMatchObject({
      status: 2,
      document: { error: { code: "NO_SESSION" } },
    });
    expect(await drums(home, "shot", "nobody")).toMatchObject({ status: 2 });
    expect(await drums(home, "rm", "nobody")).toMatchObject({ status: 2 });
  });
});

testNeeding(
  DESKTOP_NEEDS,
  "up --plan prints what would happen, starts nothing and leaves nothing",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const planned = await drums(home, "up", "--image", path, "--plan");
      expect(planned).toMatchObject({ status: 0, document: { plan: { hostname: "drums", lo: true } } });
      const kinds = planned.document.plan.insideMounts.map(({ kind }: { kind: string }) => kind);
      expect(kinds).toEqual(expect.arrayContaining(["mount", "bind", "mask", "readOnly"]));
      expect((await drums(home, "ps")).document.sessions).toEqual([]);
      expect(await readdir(home.sessions)).toEqual([]);
    });
  },
);

testNeeding(
  DESKTOP_NEEDS,
  "sudo works inside where asked for, in a sibling too, and nowhere else",
  async () => {
    const { path } = await testImage();
    await withTestHome(async (home) => {
      const up = await drums(home, "up", "--image", path, "--sudo");
      const id: string = up.document.id;
      const asRoot = ["sudo", "-n", "id", "-u"];
      expect(await drums(home, "exec", id, "--", ...asRoot)).toMatchObject({ document: { stdout: "0\n" } });
      await drums(home, "checkpoint", id, "--name", "with-sudo");
      const forked = await drums(home, "fork", "with-sudo");
      const [sibling] = forked.document.siblings;
      expect(await drums(home, "exec", sibling.id, "--", ...asRoot)).toMatchObject({
        document: { stdout: "0\n" },
      });

      const plain = await drums(home, "up", "--image", path);
      expect(await drums(home, "exec", plain.document.id, "--", ...asRoot)).toMatchObject({
        status: 1,
        document: { stderr: expect.stringContaining("no new privileges") },
      });
    });
  },
);
