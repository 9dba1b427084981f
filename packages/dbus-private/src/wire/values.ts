/** A value of any type, with its signature. */
export interface DbusVariant {
  readonly signature: string;
  readonly value: DbusValue;
}

/**
 * A D-Bus value: y n q i u d h are numbers, x t bigints, b a boolean, s o g strings, `ay` a Buffer, other arrays
 * and structs arrays, a dict an array of [key, value].
 */
export type DbusValue = number | bigint | boolean | string | Buffer | DbusVariant | readonly DbusValue[];

/** Alignment in bytes by type code (D-Bus specification, "Summary of D-Bus marshalling"). */
export const ALIGNMENT: Readonly<Record<string, number>> = {
  y: 1,
  g: 1,
  v: 1,
  n: 2,
  q: 2,
  b: 4,
  i: 4,
  u: 4,
  h: 4,
  s: 4,
  o: 4,
  a: 4,
  x: 8,
  t: 8,
  d: 8,
  "(": 8,
};
