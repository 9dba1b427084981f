import { DbusError } from "../errors.js";
import type { FlatConfig } from "./flatten.js";
import type { ConfigElement } from "./parse.js";

/** What {@link writeConfig} sets anew. */
export interface WriteOptions {
  /** The one address, `unix:path=…` or `unix:abstract=…`. */
  readonly address: string;
  /** The bus's type; default `system`. */
  readonly type?: "system" | "session";
}

/** sun_path is 108 bytes with its ending NUL (unix(7)). */
const MAX_SOCKET_PATH_BYTES = 107;

const DOCTYPE = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">`;

/**
 * The text of a configuration for a private bus: one type, one address, then what {@link flattenConfig} kept.
 *
 * @throws DbusError `BAD_ADDRESS` for anything but one unix path or abstract socket
 */
export function writeConfig(flat: FlatConfig, options: WriteOptions): string {
  checkAddress(options.address);
  const lines = [
    `<type>${options.type ?? "system"}</type>`,
    `<listen>${escapeXml(options.address)}</listen>`,
    ...flat.elements.flatMap((element) => elementLines(element)),
  ];
  return `${DOCTYPE}\n<busconfig>\n${lines.map((line) => `  ${line}\n`).join("")}</busconfig>\n`;
}

/**
 * The D-Bus address of a unix socket's path, escaped as the D-Bus specification says ("Server Addresses").
 *
 * @throws DbusError `BAD_ADDRESS` for a path that is not absolute or longer than a socket's may be
 */
export function unixAddress(path: string): string {
  if (!path.startsWith("/")) throw badAddress(path, "the path is not absolute");
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES)
    throw badAddress(path, `the path is longer than ${MAX_SOCKET_PATH_BYTES} bytes`);
  return `unix:path=${escapeAddress(path)}`;
}

function escapeAddress(path: string): string {
  return [...Buffer.from(path)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[-0-9A-Za-z_/.\\*]/.test(character) ? character : `%${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
}

/** One socket and no options: `;` would begin a second address, `,` an option. */
function checkAddress(address: string): void {
  if (!/^unix:(path|abstract)=(?:[-0-9A-Za-z_/.\\*]|%[0-9A-Fa-f]{2})+$/.test(address))
    throw badAddress(address, "not one unix:path=… or unix:abstract=… address");
}

function badAddress(address: string, why: string): DbusError {
  return new DbusError("BAD_ADDRESS", `${JSON.stringify(address)}: ${why}`, {
    hint: "make the address with unixAddress() from an absolute path",
    path: address,
  });
}

function elementLines(element: ConfigElement): string[] {
  const attributes = Object.entries(element.attributes)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join("");
  const start = `<${element.name}${attributes}`;
  if (element.children.length > 0)
    return [
      `${start}>`,
      ...element.children.flatMap((child) => elementLines(child)).map((line) => `  ${line}`),
      `</${element.name}>`,
    ];
  // Text of an element that has none of its own is blank, as checked when it was read.
  const text = element.text.trim() === "" ? "" : element.text;
  return [text === "" ? `${start}/>` : `${start}>${escapeXml(text)}</${element.name}>`];
}

const XML_ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\r": "&#13;",
  "\t": "&#9;",
};

function escapeXml(text: string): string {
  return text.replace(/[&<>"\n\r\t]/g, (character) => XML_ESCAPES[character] ?? character);
}
