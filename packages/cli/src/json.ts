/** JSON for people and records: two spaces, a last newline, bigints as decimal strings (JSON has none). */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, bigintAsDecimal, 2)}\n`;
}

/** One line of JSON, for append-only logs. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value, bigintAsDecimal)}\n`;
}

function bigintAsDecimal(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
