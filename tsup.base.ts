import { defineConfig, type Options } from "tsup";

/** One build for every package: ESM for Node 20 with types and source maps. */
export const build = (entry: readonly string[] = ["src/index.ts"], more: Options = {}) =>
  defineConfig({
    entry: [...entry],
    format: "esm",
    target: "node20",
    dts: true,
    sourcemap: true,
    clean: true,
    ...more,
  });
