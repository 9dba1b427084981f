import type { Claim, ParityGap } from "../evidence/records/claims.js";
import { type Colour, type Paint, printable, wrap } from "./style.js";

/** How a table is written. */
export interface TableOptions {
  /** Columns to fill. */
  readonly width: number;
  readonly paint: Paint;
  /** How many reasons to show of a claim that is established. Default 0; those of any other are all shown. */
  readonly reasons?: number;
}

const SIGNS: Readonly<Record<Claim["status"], readonly [sign: string, colour: Colour]>> = {
  established: ["✓", "green"],
  failed: ["✗", "red"],
  "not reached": ["·", "dim"],
  unknown: ["?", "yellow"],
};

const STATUS_WIDTH = "not reached".length;
const INDENT = STATUS_WIDTH + 4;

/** The table of claims: sign, status, sentence, and what speaks against what is not established. Ends with a count. */
export function renderClaims(claims: readonly Claim[], options: TableOptions): string {
  const rows = claims.flatMap((claim) => claimLines(claim, options));
  return [...rows, "", countText(claims), ""].join("\n");
}

/** How many claims came to which status, in one line. */
export function countText(claims: readonly Claim[]): string {
  const counts = (Object.keys(SIGNS) as Claim["status"][])
    .map((status) => ({ status, count: claims.filter((claim) => claim.status === status).length }))
    .filter(({ count, status }) => count > 0 || status === "established")
    .map(({ status, count }) => `${count} ${status}`);
  return `${claims.length} claims: ${counts.join(", ")}`;
}

function claimLines({ status, sentence, reasons }: Claim, { width, paint, reasons: most = 0 }: TableOptions) {
  const [sign, colour] = SIGNS[status];
  const shown = status === "established" ? reasons.slice(0, most) : reasons;
  const [first, ...rest] = wrap(printable(sentence), width - INDENT);
  const detail = shown.flatMap((reason) => wrap(`- ${printable(reason)}`, width - INDENT));
  return [
    `${paint(colour, `${sign} ${status.padEnd(STATUS_WIDTH)}`)}  ${first}`,
    ...rest.map(indented),
    ...detail.map((line) => paint(status === "failed" ? "red" : "dim", indented(line))),
  ];
}

/** What differs from the image's own machine, a row a topic. */
export function renderParity(parity: readonly ParityGap[], { width, paint }: TableOptions): string {
  const topicWidth = Math.max(...parity.map(({ topic }) => topic.length), 0);
  return parity
    .flatMap(({ topic, status, image, session }) => {
      const text = status === "same" ? `same: ${session}` : `${status}: image: ${image}; session: ${session}`;
      const [first, ...rest] = wrap(printable(text), Math.max(20, width - topicWidth - 2));
      const lines = [
        `${topic.padEnd(topicWidth)}  ${first}`,
        ...rest.map((line) => `${" ".repeat(topicWidth + 2)}${line}`),
      ];
      return lines.map((line) => (status === "same" ? paint("dim", line) : line));
    })
    .map((line) => `${line}\n`)
    .join("");
}

function indented(line: string): string {
  return `${" ".repeat(INDENT)}${line}`;
}
