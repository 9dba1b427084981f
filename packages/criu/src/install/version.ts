/** The dotted numbers at the beginning of a kernel's release or another version, or "0". */
export function dottedNumbers(text: string): string {
  return /^\d+(?:\.\d+)*/.exec(text)?.[0] ?? "0";
}

/** Compares dotted numbers: negative where a is older, 0 where equal ("4.2" equals "4.2.0"). */
export function compareVersions(a: string, b: string): number {
  const left = a.split(".").map(Number);
  const right = b.split(".").map(Number);
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
