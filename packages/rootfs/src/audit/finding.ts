/** One thing that an audit of a root found. */
export interface AuditFinding {
  readonly name: string;
  /** "ok"; "note" for what a recipe has to know; "problem" for what keeps a desktop from working. */
  readonly status: "ok" | "note" | "problem";
  /** Inside the root. */
  readonly path: string;
  readonly detail: string;
  /** For a problem: what to do. */
  readonly remedy?: string;
}

/** A finding that keeps something from working, with what to do about it. */
export function problem(name: string, path: string, detail: string, remedy: string): AuditFinding {
  return { name, status: "problem", path, detail, remedy };
}
