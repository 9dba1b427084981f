import { expect, test } from "vitest";
import { capabilityNames, SESSION_CAPABILITIES } from "../../src/index.js";
import { capabilityMask } from "../../src/profiles/capabilities.js";

test("a mask's names are those that it was made of, in the order of their bits", () => {
  const mask = capabilityMask(["NET_RAW", "CHOWN", "CHECKPOINT_RESTORE"]);
  expect(capabilityNames(mask)).toEqual(["CHOWN", "NET_RAW", "CHECKPOINT_RESTORE"]);
  expect(capabilityNames(capabilityMask(SESSION_CAPABILITIES))).toEqual([...SESSION_CAPABILITIES]);
});

test("a bit that no capability has yet is named by its number", () => {
  expect(capabilityNames(1n << 63n)).toEqual(["CAP_63"]);
  expect(capabilityNames(0n)).toEqual([]);
});
