/** One line of a preflight, as every package of drums says it; a gap or a blocker always has a remedy. */
export interface PreflightItem {
  readonly name: string;
  /** `gap`: something will be missing or slower. `blocker`: nothing must be started. */
  readonly status: "ok" | "gap" | "blocker";
  readonly detail: string;
  readonly remedy?: string;
}

/** An item with the package, or `host`, that it comes from. */
export interface AreaItem extends PreflightItem {
  readonly area: string;
}

/** An item that depends on one condition. */
export function itemWhen(
  holds: boolean,
  facts: {
    readonly name: string;
    readonly ok: string;
    readonly otherwise: string;
    readonly remedy: string;
    readonly status: "gap" | "blocker";
  },
): PreflightItem {
  const { name, ok, otherwise, remedy, status } = facts;
  return holds ? { name, status: "ok", detail: ok } : { name, status, detail: otherwise, remedy };
}

/** Those that forbid a start. */
export function blockersOf<Item extends PreflightItem>(items: readonly Item[]): Item[] {
  return items.filter(({ status }) => status === "blocker");
}
