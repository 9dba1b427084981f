import { expect, test } from "vitest";
import { endpointText } from "../../src/audit/endpoints.js";

test.each([
  ["0100007F:1F90", "127.0.0.1:8080"],
  ["6402000A:0050", "10.0.2.100:80"],
  ["00000000000000000000000001000000:0016", "[::1]:22"],
  ["00000000000000000000000000000000:0016", "[::]:22"],
  ["0000000000000000FFFF00006402000A:01BB", "[::ffff:10.0.2.100]:443"],
  ["B80D0120000000000000000001000000:0001", "[2001:db8::1]:1"],
  ["not an address", "not an address"],
])("%s is %s", (hex, text) => {
  expect(endpointText(hex)).toBe(text);
});
