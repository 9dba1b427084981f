import { readFileSync, statfsSync, statSync } from "node:fs";
import type { ExplainSystem } from "./types.js";

/** The machine itself, as this process sees it. */
export const realExplainSystem: ExplainSystem = {
  readText(path) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  },
  look(path) {
    try {
      const stat = statSync(path, { bigint: true });
      const { type } = statfsSync(path, { bigint: true });
      return { device: stat.dev, folder: stat.isDirectory(), fsMagic: type };
    } catch {
      return undefined;
    }
  },
};
