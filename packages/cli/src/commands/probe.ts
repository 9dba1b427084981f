import { join } from "node:path";
import { type Command, Option } from "commander";
import { criuFor } from "../criu.js";
import { EXIT, type ExitCode, messageOf } from "../errors.js";
import { createHome } from "../home.js";
import type { ProbeOutcome } from "../probe/close.js";
import { runProbe } from "../probe/run.js";
import { desktopNames, findDesktop } from "../recipes/index.js";
import { renderClaims, renderParity, type TableOptions } from "../render/claims.js";
import { exitCodeOf, renderError } from "../render/error.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import {
  type CriuOptionChoice,
  countOption,
  criuOption,
  type LimitChoice,
  limitRequest,
  type ProfileChoice,
  profileOption,
  type ScreenChoice,
  screenRequest,
  withLimitOptions,
  withScreenOptions,
} from "./_options.js";

import { sweep } from "./_sweep.js";

interface ProbeFlags extends CommonOptions, ProfileChoice, ScreenChoice, LimitChoice, CriuOptionChoice {
  readonly image: string;
  readonly sha256?: string;
  readonly desktop: string;
  readonly application?: string;
  readonly siblings: number;
  readonly out?: string;
}

/** `drums probe`: the whole run with evidence. */
export function registerProbe(program: Command, context: CommandContext): void {
  const command = program
    .command("probe")
    .description("the whole run with evidence: image to desktop to checkpoint to siblings to claims")
    .requiredOption("--image <file>", "a qcow2 or raw image")
    .option("--sha256 <hex>", "what the image must be; without it that claim stays unknown")
    .addOption(new Option("--desktop <name>", "what to start").choices(desktopNames).default("openbox"))
    .option("--application <name>", `what to type into (default: the desktop's first): ${applicationsText()}`)
    .option("--siblings <count>", "how many to restore at the same time", countOption, 3)
    .addOption(profileOption())
    .addOption(criuOption())
    .option("--out <dir>", "the run's folder (default: a new one under DRUMS_HOME/evidence)");
  withScreenOptions(command);
  withLimitOptions(command);
  withCommonOptions(command).action((flags: ProbeFlags) =>
    context.run(flags, async ({ home, progress, signal }) => {
      await createHome(home);
      await sweep(home, progress);
      const criu = await criuFor(home, progress, { version: flags.criu });
      const outcome = await runProbe(
        home,
        {
          image: flags.image,
          expectedSha256: flags.sha256,
          desktop: flags.desktop,
          ...screenRequest(flags),
          application: flags.application,
          siblings: flags.siblings,
          profile: flags.profile,
          ...limitRequest(flags),
          out: flags.out ?? join(home.evidence, runName(flags.desktop)),
        },
        { criu: async () => criu, onStep: progress.onStep, signal },
      );
      signal.throwIfAborted();
      return {
        exitCode: exitOf(outcome),
        document: { ...outcome, failures: outcome.failures.map(messageOf) },
        text: (table) => renderOutcome(outcome, table),
      };
    }),
  );
}

function applicationsText(): string {
  return desktopNames
    .map(
      (name) =>
        `${findDesktop(name)
          .applications.map((one) => one.name)
          .join(", ")} on ${name}`,
    )
    .join("; ");
}

function runName(desktop: string): string {
  return `${desktop}-${new Date().toISOString().replace(/[:.]/g, "-")}`;
}

/** An error's own status wins; without one, every claim must be established. */
function exitOf({ failures, claims }: ProbeOutcome): ExitCode {
  const [first] = failures;
  if (first !== undefined) return exitCodeOf(first);
  return claims.every(({ status }) => status === "established" || status === "unknown")
    ? EXIT.done
    : EXIT.verdictFailed;
}

function renderOutcome(
  { claims, parity, sheet, evidence, failures }: ProbeOutcome,
  table: TableOptions,
): string {
  return [
    renderClaims(claims, table),
    "differs from the image's own machine:",
    renderParity(parity, table),
    ...failures.map((failure) => `ended by ${renderError(failure, table.paint).trimEnd()}`),
    ...(sheet === undefined ? [] : [`picture sheet: ${sheet}`]),
    `evidence: ${evidence}`,
    "",
  ].join("\n");
}
