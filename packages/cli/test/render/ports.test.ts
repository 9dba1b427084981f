import { expect, test } from "vitest";
import { networkCell, portLines } from "../../src/render/ports.js";

const PORTS = [
  { hostPort: 40_123, guestPort: 8080 },
  { hostPort: 40_124, guestPort: 22 },
];

test("a published port is a line that says where it leads", () => {
  expect(portLines(PORTS)).toBe(
    "  127.0.0.1:40123 leads to its port 8080\n  127.0.0.1:40124 leads to its port 22\n",
  );
  expect(portLines()).toBe("");
});

test("a network is one cell of a table", () => {
  expect(networkCell("none", [])).toBe("lo");
  expect(networkCell("nat", PORTS)).toBe("nat 40123:8080 40124:22");
  expect(networkCell("lost", PORTS.slice(0, 1))).toBe("lost 40123:8080");
});
