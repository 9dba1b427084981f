import { expect } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { checkFeatures, FEATURES } from "../src/index.js";
import { CRIU_NEEDS, testCriu } from "./helpers/criu.js";

testNeeding(
  CRIU_NEEDS,
  "every feature is told as available, missing, or not known to this version",
  async () => {
    const states = await checkFeatures(await testCriu());
    expect(Object.keys(states).sort()).toEqual([...FEATURES].sort());
    // Without these no session of ours could be dumped on this kernel at all.
    expect(states).toMatchObject({
      clone3_set_tid: "available",
      pidfd_store: "available",
      sk_unix_file: "available",
      breakpoints: "available",
    });
  },
);

testNeeding(CRIU_NEEDS, "a feature that came later is unknown to an older version", async () => {
  const states = await checkFeatures(await testCriu("4.1.1"), { names: ["timer_cr_ids", "openat2"] });
  expect(states).toEqual({ timer_cr_ids: "unknown", openat2: "available" });
});
