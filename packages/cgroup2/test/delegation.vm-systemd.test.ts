import { expect, test } from "vitest";
import { readHierarchy } from "../src/index.js";

test("under systemd the hierarchy is found from within a delegated unit", async () => {
  expect(await readHierarchy()).toMatchObject({ mode: "v2", ownPath: "/system.slice/vm.service" });
});
