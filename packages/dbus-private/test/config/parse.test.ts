import { expect, test } from "vitest";
import { parseConfig } from "../../src/index.js";

const file = "/etc/dbus-1/x.conf";

test("elements, attributes and text are kept as they are, with their lines", () => {
  const root = parseConfig(
    `<!DOCTYPE busconfig PUBLIC "a" "b">\n<busconfig>\n  <!-- c -->\n  <limit name="auth_timeout">5</limit>\n</busconfig>`,
    { file },
  );
  expect(root.children).toEqual([
    { name: "limit", attributes: { name: "auth_timeout" }, text: "5", children: [], file, line: 4 },
  ]);
});

test("entities and CDATA are text", () => {
  const root = parseConfig("<busconfig><user>a&amp;b<![CDATA[<c>]]>&#65;</user></busconfig>", { file });
  expect(root.children[0]?.text).toBe("a&b<c>A");
});

test.each([
  ["<busconfig><policy", 1],
  ["<busconfig>\n</policy></busconfig>", 2],
  ["<other/>", 1],
  ["", 1],
  ["<busconfig/>\n<busconfig/>", 2],
  ['<!DOCTYPE busconfig [<!ENTITY a "b">]>\n<busconfig>&a;</busconfig>', 2],
])("%j is refused with its file and line", (text, line) => {
  expect(() => parseConfig(text, { file })).toThrowError(
    expect.objectContaining({ code: "CONFIG_MALFORMED", path: file, line }),
  );
});

test("elements nested without end are refused", () => {
  const text = `<busconfig>${"<policy>".repeat(50_000)}`;
  expect(() => parseConfig(text, { file })).toThrowError(/nested deeper/);
});
