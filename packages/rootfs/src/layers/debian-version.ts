/** Relations of deb-control(5)'s dependency fields. */
export type Relation = "<<" | "<=" | "=" | ">=" | ">>";

/** Compares two versions as dpkg does (deb-version(7)): below, at or above zero. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [partsOf(left), partsOf(right)];
  return a.epoch - b.epoch || compareText(a.upstream, b.upstream) || compareText(a.revision, b.revision);
}

/** Whether a version stands in a relation to another one. */
export function satisfies(version: string, relation: Relation, wanted: string): boolean {
  const order = compareVersions(version, wanted);
  if (relation === "<<") return order < 0;
  if (relation === "<=") return order <= 0;
  if (relation === "=") return order === 0;
  return relation === ">=" ? order >= 0 : order > 0;
}

function partsOf(version: string): { epoch: number; upstream: string; revision: string } {
  const [, epoch = "0", rest = ""] = /^(?:(\d+):)?(.*)$/.exec(version) ?? [];
  const dash = rest.lastIndexOf("-");
  const [upstream, revision] = dash < 0 ? [rest, ""] : [rest.slice(0, dash), rest.slice(dash + 1)];
  return { epoch: Number(epoch), upstream, revision };
}

/** Runs of other characters and of digits by turns; digits count as numbers, of any length. */
function compareText(left: string, right: string): number {
  let [a, b] = [left, right];
  while (a !== "" || b !== "") {
    const [textA = "", digitsA = ""] = (/^(\D*)(\d*)/.exec(a) ?? []).slice(1);
    const [textB = "", digitsB = ""] = (/^(\D*)(\d*)/.exec(b) ?? []).slice(1);
    const order = compareCharacters(textA, textB) || compareNumbers(digitsA, digitsB);
    if (order !== 0) return order;
    [a, b] = [a.slice(textA.length + digitsA.length), b.slice(textB.length + digitsB.length)];
  }
  return 0;
}

function compareCharacters(a: string, b: string): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const order = weightOf(a[index]) - weightOf(b[index]);
    if (order !== 0) return order;
  }
  return 0;
}

/** A tilde sorts before the end, letters before everything else. */
function weightOf(character: string | undefined): number {
  if (character === "~") return -1;
  if (character === undefined) return 0;
  return character.charCodeAt(0) + (/[A-Za-z]/.test(character) ? 0 : 256);
}

function compareNumbers(a: string, b: string): number {
  const difference = BigInt(a || "0") - BigInt(b || "0");
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}
