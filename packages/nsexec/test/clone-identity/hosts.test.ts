import { expect, test } from "vitest";
import { hostsWith } from "../../src/clone-identity/hosts.js";

test("the machine's own name is replaced where it stands, and every other line is kept", () => {
  const text = "127.0.0.1\tlocalhost\n127.0.1.1\told old.example\n# 127.0.1.1 a comment\n::1 localhost\n";
  expect(hostsWith(text, "new")).toBe(
    "127.0.0.1\tlocalhost\n127.0.1.1\tnew\n# 127.0.1.1 a comment\n::1 localhost\n",
  );
});

test("a name is put first where there was none, and once where there were several", () => {
  expect(hostsWith("::1 localhost\n", "new")).toBe("127.0.1.1\tnew\n::1 localhost\n");
  expect(hostsWith("", "new")).toBe("127.0.1.1\tnew\n");
  expect(hostsWith("127.0.1.1 a\n127.0.1.1 b\n", "new")).toBe("127.0.1.1\tnew\n");
});
