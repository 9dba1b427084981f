import { CriuError } from "../errors.js";
import { compareVersions, dottedNumbers } from "./version.js";

/** A CRIU that was seen not to work on a kernel. */
export interface KnownUnusable {
  readonly criu: string;
  /** The oldest kernel on which it was seen to fail; newer ones keep the cause. */
  readonly kernelFrom: string;
  /** Why, in a sentence, with the words of its own log. */
  readonly reason: string;
}

/** Every CRIU that is refused by name, with the kernel on which it was tried. */
export const KNOWN_UNUSABLE: readonly KnownUnusable[] = [
  {
    criu: "3.17.1",
    kernelFrom: "6.18",
    reason:
      "it does not know this kernel's vDSO (vdso: Unexpected rt vDSO area bounds), so it refuses every call",
  },
];

/** @throws {CriuError} `CRIU_UNUSABLE` with the reason, for a version that is known not to work on a kernel */
export function assertNotKnownUnusable(version: string, { kernel }: { readonly kernel: string }): void {
  const known = KNOWN_UNUSABLE.find(
    ({ criu, kernelFrom }) => criu === version && compareVersions(dottedNumbers(kernel), kernelFrom) >= 0,
  );
  if (known === undefined) return;
  throw new CriuError(
    "CRIU_UNUSABLE",
    `CRIU ${version} does not work on kernel ${kernel}: ${known.reason} (seen on ${known.kernelFrom})`,
    {
      hint: "Use CRIU 4.1.1 or newer: install the private bundle with installCriu; the system's own stays as it is",
      facts: { version, kernel },
    },
  );
}
