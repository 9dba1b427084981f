import { DbusError } from "../errors.js";
import type { ByteReader } from "./reader.js";
import { protocol } from "./signature.js";

/** The specification bounds no line; a server's own answers are far shorter. */
const MAX_LINE_BYTES = 4096;

/**
 * Authenticates by EXTERNAL, which asks the kernel who is at the other end of the socket, and begins the
 * exchange of messages (D-Bus specification, "Authentication Protocol").
 *
 * @param reader the connected stream
 * @param options `uid`: the user to be, as the bus sees it; by default the bus asks the kernel alone, which is
 *   right also where the bus's user namespace shows another number than ours
 * @returns the server's GUID
 * @throws DbusError `AUTH_REFUSED`, `PROTOCOL`, `CLOSED`
 */
export async function authenticate(
  reader: ByteReader,
  options: { readonly uid?: number } = {},
): Promise<string> {
  const { uid } = options;
  const { stream } = reader;
  // The NUL byte comes first, alone; credentials may travel with it.
  stream.write("\0");
  if (uid === undefined) {
    stream.write("AUTH EXTERNAL\r\n");
    await expectLine(reader, /^DATA ?$/, uid);
    stream.write("DATA\r\n");
  } else stream.write(`AUTH EXTERNAL ${Buffer.from(String(uid)).toString("hex")}\r\n`);
  const guid = await expectLine(reader, /^OK ([0-9a-fA-F]{32})$/, uid);
  stream.write("BEGIN\r\n");
  return guid;
}

async function expectLine(reader: ByteReader, pattern: RegExp, uid: number | undefined): Promise<string> {
  const line = await reader.line(MAX_LINE_BYTES);
  const match = pattern.exec(line);
  if (match !== null) return match[1] ?? "";
  if (!line.startsWith("REJECTED")) throw protocol(`${JSON.stringify(line.slice(0, 100))} in authentication`);
  throw new DbusError(
    "AUTH_REFUSED",
    `the bus refused ${uid === undefined ? "this user" : `uid ${uid}`}: ${line}`,
    {
      hint: "connect as that uid (the kernel tells the bus who connected), or as root; the bus must allow EXTERNAL",
    },
  );
}
