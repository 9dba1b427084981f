import type { DesktopRecipe } from "./types.js";

/**
 * Settings that make a checkpoint smaller and its restore shorter, each by the environment of every program of a desktop
 * and its applications. What each brings stands in docs/fork-at-scale.md.
 */
export const LEAN_SETTINGS = {
  /** One heap for all threads of a program (mallopt(3)): glibc would give each of up to eight a core a heap of its own. */
  arenas: { MALLOC_ARENA_MAX: "1" },
  /** Freed memory at a heap's end goes back from 128 KiB on, also in programs that once freed large blocks (mallopt(3)). */
  trim: { MALLOC_TRIM_THRESHOLD_: "131072" },
  /** Mesa keeps compiled shaders in memory alone (Mesa's environment variables). */
  shaders: { MESA_SHADER_CACHE_DISABLE: "true" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Name of a lean setting. */
export type LeanName = keyof typeof LEAN_SETTINGS;

/** All of them. */
export const leanNames = Object.keys(LEAN_SETTINGS) as [LeanName, ...LeanName[]];

/** What a desktop may be made lean by. */
export interface LeanRequest {
  /** Default: none. */
  readonly lean?: readonly LeanName[] | undefined;
}

/** A desktop whose programs and applications have the settings; what a recipe sets itself wins. */
export function withLean(desktop: DesktopRecipe, names: readonly LeanName[]): DesktopRecipe {
  const added: Readonly<Record<string, string>> = Object.assign(
    {},
    ...names.map((name) => LEAN_SETTINGS[name]),
  );
  const programs = desktop.programs.map((program) => ({ ...program, env: { ...added, ...program.env } }));
  return { ...desktop, programs, env: { ...added, ...desktop.env } };
}
