import { watch } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { inotifyUse } from "../../src/capacity/inotify.js";

testNeeding(["root"], "a watch of this process is counted for its user and for no other", () => {
  const before = { own: inotifyUse(0), other: inotifyUse(4_000_000) };
  const watchers = [watch(tmpdir()), watch("/")];
  try {
    // One process watches everything through one instance.
    const { instances, watches } = inotifyUse(0);
    expect(instances).toBeGreaterThanOrEqual(Math.max(before.own.instances, 1));
    expect(watches).toBeGreaterThanOrEqual(2);
    expect(inotifyUse(4_000_000)).toEqual(before.other);
    expect(before.other).toEqual({ instances: 0, watches: 0 });
  } finally {
    for (const watcher of watchers) watcher.close();
  }
});
