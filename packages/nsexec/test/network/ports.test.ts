import { expect, test } from "vitest";
import { checkedPort, parsePublish } from "../../src/network/ports.js";

test.each([
  ["8080:80", { hostPort: 8080, guestPort: 80 }],
  ["0:80", { hostPort: 0, guestPort: 80 }],
  ["80", { hostPort: 0, guestPort: 80 }],
  ["65535:65535", { hostPort: 65_535, guestPort: 65_535 }],
])("%s is a port to publish", (text, ports) => {
  expect(parsePublish(text)).toEqual(ports);
});

test.each([
  "",
  ":80",
  "80:",
  "8080:0",
  "0",
  "70000:80",
  "80:70000",
  "a:b",
  "1:2:3",
  "-1:80",
  "127.0.0.1:80:80",
  "8080:80 ",
])("%j is refused with what to give instead", (text) => {
  expect(() => parsePublish(text)).toThrow(
    expect.objectContaining({ code: "PORT_INVALID", hint: expect.stringContaining("HOSTPORT:GUESTPORT") }),
  );
});

test("a request without a port of the host asks for a free one", () => {
  expect(checkedPort({ guestPort: 22 })).toEqual({ hostPort: 0, guestPort: 22 });
  expect(() => checkedPort({ guestPort: 1.5 })).toThrow(expect.objectContaining({ code: "PORT_INVALID" }));
});
