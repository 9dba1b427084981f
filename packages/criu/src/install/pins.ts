import { z } from "zod";
import { CriuError } from "../errors.js";
import pins411 from "./pins-4.1.1.json" with { type: "json" };
import pins421 from "./pins-4.2.1.json" with { type: "json" };
import pins43 from "./pins-4.3.json" with { type: "json" };

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

const PINS: readonly Pins[] = [pins411, pins421, pins43].map((pins) => pinsSchema.parse(pins));

/** The version that is installed where none is named. */
export const DEFAULT_VERSION = "4.2.1";

/** The CRIU versions this package holds pins for, oldest first. */
export const PINNED_VERSIONS: readonly string[] = PINS.map(({ criu }) => criu);

/** @throws {CriuError} `UNKNOWN_PINS` for a version without pins. */
export function pinsFor(version: string): Pins {
  const pins = PINS.find(({ criu }) => criu === version);
  if (pins !== undefined) return pins;
  throw new CriuError("UNKNOWN_PINS", `There are no package pins for CRIU ${version}`, {
    hint: `Ask for one of: ${PINNED_VERSIONS.join(", ")}`,
    facts: { version },
  });
}
