import { expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { privateBus } from "../examples/private-bus.js";
import { STOCK, withFolder } from "./support.js";

testNeeding(["program:dbus-daemon", `file:${STOCK}`], "the README's example runs", async () => {
  const report = await withFolder(privateBus);
  expect(report.ok).toBe(true);
});
