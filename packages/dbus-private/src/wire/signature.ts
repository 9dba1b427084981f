import { DbusError } from "../errors.js";

/** A type of a D-Bus signature. */
export type DbusType =
  | { readonly kind: "basic"; readonly code: string }
  | { readonly kind: "variant" }
  | { readonly kind: "array"; readonly element: DbusType }
  | { readonly kind: "struct"; readonly fields: readonly DbusType[] }
  | { readonly kind: "entry"; readonly key: DbusType; readonly value: DbusType };

/** The specification's own bounds ("Valid Signatures"). */
const MAX_SIGNATURE_BYTES = 255;
const MAX_NESTING = 32;

/** The codes of the basic types: y b n q i u x t d h s o g. */
const BASIC = "ybnqiuxtdhsog";

/**
 * Parses a signature into its complete types. An empty struct is refused: an array of it would never end.
 *
 * @throws DbusError `PROTOCOL`
 */
export function parseSignature(signature: string): DbusType[] {
  if (signature.length > MAX_SIGNATURE_BYTES) throw protocol("a signature is too long");
  const types: DbusType[] = [];
  let at = 0;
  while (at < signature.length) {
    const [type, next] = parseOne(signature, at, 0);
    types.push(type);
    at = next;
  }
  return types;
}

function parseOne(signature: string, at: number, depth: number): [DbusType, number] {
  const code = signature[at];
  if (depth > MAX_NESTING) throw protocol(`the signature ${quoted(signature)} is nested too deep`);
  if (code === undefined) throw protocol(`the signature ${quoted(signature)} ends too early`);
  if (BASIC.includes(code)) return [{ kind: "basic", code }, at + 1];
  if (code === "v") return [{ kind: "variant" }, at + 1];
  if (code === "(") return parseStruct(signature, at + 1, depth + 1);
  if (code !== "a") throw protocol(`the signature ${quoted(signature)} has no such type`);
  if (signature[at + 1] === "{") {
    const [element, next] = parseEntry(signature, at + 2, depth + 1);
    return [{ kind: "array", element }, next];
  }
  const [element, next] = parseOne(signature, at + 1, depth + 1);
  return [{ kind: "array", element }, next];
}

function parseStruct(signature: string, start: number, depth: number): [DbusType, number] {
  const fields: DbusType[] = [];
  let at = start;
  while (signature[at] !== ")") {
    const [field, next] = parseOne(signature, at, depth);
    fields.push(field);
    at = next;
  }
  if (fields.length === 0) throw protocol(`the signature ${quoted(signature)} has an empty struct`);
  return [{ kind: "struct", fields }, at + 1];
}

function parseEntry(signature: string, start: number, depth: number): [DbusType, number] {
  const [key, afterKey] = parseOne(signature, start, depth);
  const [value, afterValue] = parseOne(signature, afterKey, depth);
  if (key.kind !== "basic" || signature[afterValue] !== "}")
    throw protocol(`the signature ${quoted(signature)} has a wrong dict entry`);
  return [{ kind: "entry", key, value }, afterValue + 1];
}

/** The refusal of what is not D-Bus, or beyond the bounds. */
export function protocol(why: string): DbusError {
  return new DbusError("PROTOCOL", `the peer does not speak D-Bus: ${why}`, {
    hint: "check what listens on the socket; a session may have put another program there",
  });
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
