import type { TableOptions } from "../render/claims.js";
import { type Colour, printable, wrap } from "../render/style.js";
import type { AreaItem } from "./items.js";

const COLOURS: Readonly<Record<AreaItem["status"], Colour>> = { ok: "green", gap: "yellow", blocker: "red" };
const STATUS_WIDTH = "blocker".length;

/** The table of a preflight: name, status, detail, and below each gap or blocker what to do. */
export function preflightTable(items: readonly AreaItem[], { width, paint }: TableOptions): string {
  const nameWidth = Math.max(...items.map(({ name }) => name.length), 0);
  const indent = nameWidth + STATUS_WIDTH + 4;
  const room = Math.max(20, width - indent);
  const rows = items.flatMap(({ area, name, status, detail, remedy }, index) => {
    const [first = "", ...rest] = wrap(printable(detail), room);
    const toDo = remedy === undefined ? [] : wrap(`→ ${printable(remedy)}`, room);
    return [
      ...(items[index - 1]?.area === area ? [] : [paint("bold", area)]),
      `${name.padEnd(nameWidth)}  ${paint(COLOURS[status], status.padEnd(STATUS_WIDTH))}  ${first}`,
      ...[...rest, ...toDo].map((line) => `${" ".repeat(indent)}${line}`),
    ];
  });
  return [...rows, "", summary(items), ""].join("\n");
}

function summary(items: readonly AreaItem[]): string {
  const count = (status: AreaItem["status"]) => items.filter((item) => item.status === status).length;
  const blockers = count("blocker");
  const verdict = blockers === 0 ? "nothing stands in the way" : `${blockers} in the way: nothing is started`;
  return `${count("ok")} ok, ${count("gap")} gaps; ${verdict}`;
}
