import type { TableOptions } from "../render/claims.js";
import { printable } from "../render/style.js";
import type { BuiltImage } from "./build.js";
import type { ImageCheck } from "./check.js";

const MIB = 1024 * 1024;

/** A built image for people. */
export function builtText({ path, sha256, bytes, reused, record }: BuiltImage): string {
  return [
    `${path}${reused ? " (built before)" : ""}`,
    `  sha256    ${sha256}`,
    `  size      ${(bytes / MIB).toFixed(1)} MiB`,
    `  packages  ${record.packages.length}, of ${record.builtAt}`,
    "",
  ].join("\n");
}

/** What was found in an image, a line a finding, then its partitions. */
export function checkText({ path, findings, inspection, ok }: ImageCheck, { paint }: TableOptions): string {
  const lines = findings.flatMap((finding) => [
    `${finding.ok ? paint("green", "✓") : paint("red", "✗")} ${finding.name.padEnd(14)}  ${printable(finding.detail)}`,
    ...(finding.ok || finding.hint === undefined ? [] : [`  ${" ".repeat(14)}  ${printable(finding.hint)}`]),
  ]);
  const partitions = inspection?.table.partitions ?? [];
  return [
    printable(path),
    ...lines,
    ...partitions.map(({ index, start, bytes, label, filesystem }) =>
      [
        `  partition ${index}`,
        `${bytes / MIB} MiB at ${start / MIB} MiB`,
        printable(label ?? ""),
        filesystem?.kind ?? "no filesystem",
      ].join("  "),
    ),
    ok ? "usable" : paint("red", "not usable"),
    "",
  ].join("\n");
}
