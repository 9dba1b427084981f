import { z } from "zod";
import { CriuError } from "../errors.js";
import pins421 from "./pins-4.2.1.json" with { type: "json" };

const pinsSchema = z.object({
  criu: z.string(),
  architecture: z.string(),
  suites: z.array(z.string()).min(1),
  packages: z.array(
    z.object({ name: z.string(), version: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});

/** The packages of one CRIU bundle, each by exact version and hash, and the suites that serve them. */
export type Pins = z.infer<typeof pinsSchema>;

/** The version that is installed where none is named. */
export const DEFAULT_VERSION = "4.2.1";

/** The CRIU versions this package holds pins for. */
export const PINNED_VERSIONS: readonly string[] = [pins421.criu];

/** @throws {CriuError} `UNKNOWN_PINS` for a version without pins. */
export function pinsFor(version: string): Pins {
  if (version === pins421.criu) return pinsSchema.parse(pins421);
  throw new CriuError("UNKNOWN_PINS", `There are no package pins for CRIU ${version}`, {
    hint: `Ask for one of: ${PINNED_VERSIONS.join(", ")}`,
    facts: { version },
  });
}
