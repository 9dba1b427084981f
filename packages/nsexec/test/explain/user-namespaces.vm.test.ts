import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { realExplainSystem } from "../../src/explain/system.js";
import { explainUserNamespaces } from "../../src/index.js";

const KEY = "/proc/sys/kernel/unprivileged_userns_clone";

test("Debian's sysctl that forbids user namespaces to users is named by its exact key", () => {
  expect(existsSync(KEY)).toBe(true);
  const asUser = () =>
    execFileSync("setpriv", ["--reuid=1000", "--clear-groups", "unshare", "--user", "true"], {
      stdio: "pipe",
    });
  asUser();
  writeFileSync(KEY, "0");
  try {
    expect(asUser).toThrow(/Operation not permitted/);
    expect(explainUserNamespaces("EPERM", realExplainSystem)).toEqual({
      reason: "USER_NAMESPACES_UNPRIVILEGED",
      hint: expect.stringContaining("sysctl -w kernel.unprivileged_userns_clone=1"),
    });
  } finally {
    writeFileSync(KEY, "1");
  }
});
