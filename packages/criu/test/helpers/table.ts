/** A table in Markdown with its columns filled up, as the formatter wants it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, 3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return `${[head, widths.map((width) => "-".repeat(width)), ...rows].map(line).join("\n")}\n`;
}
