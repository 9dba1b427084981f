import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { waitAndType } from "../examples/wait-and-type.js";
import { connectX, decodePng } from "../src/index.js";
import { startOpenbox } from "./support/openbox.js";
import { startXvfb } from "./support/xvfb.js";

const EXAMPLE = new URL("../examples/wait-and-type.ts", import.meta.url);
const README = new URL("../README.md", import.meta.url);

testNeeding(["program:Xvfb", "program:openbox", "program:xterm"], "the README's example runs", async () => {
  const server = await startXvfb();
  try {
    await startOpenbox(server, await connectX(await server.connect()));
    server.start("xterm", "-geometry", "80x24+100+100");
    const { verdict, sheet } = await waitAndType(
      server.socket,
      join(server.folder, "Xvfb_screen0"),
      "echo Hello\n",
    );
    expect(verdict).toMatchObject({ name: "ready", facts: "x11" });
    expect(decodePng(sheet).width).toBe(12 + 2 * 652);
  } finally {
    await server.stop();
  }
});

test("the README shows the example as it is", async () => {
  const example = (await readFile(EXAMPLE, "utf8")).split("*/\n")[1];
  expect(await readFile(README, "utf8")).toContain(example?.trim());
});
