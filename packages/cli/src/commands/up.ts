import { describePlan } from "@drums/nsexec";
import { type Command, Option } from "commander";
import type { Home } from "../home.js";
import { createHome } from "../home.js";
import { desktopNames } from "../recipes/index.js";
import { durationText } from "../render/style.js";
import { planSession, type UpOptions, type UpRequest, upSession } from "../session/up.js";
import {
  type CommandContext,
  type CommandResult,
  type CommonOptions,
  withCommonOptions,
} from "./_context.js";
import { type ProfileChoice, profileOption } from "./_options.js";

import { sweep } from "./_sweep.js";

interface UpFlags extends CommonOptions, ProfileChoice {
  readonly image: string;
  readonly sha256?: string;
  readonly desktop: string;
  readonly sudo?: boolean;
  readonly plan?: boolean;
}

/** `drums up`: a session from an image, ready to use. It outlives the command. */
export function registerUp(program: Command, context: CommandContext): void {
  const command = program
    .command("up")
    .description("bring a desktop up from an image and wait until it is usable")
    .requiredOption("--image <file>", "a qcow2 or raw image")
    .option("--sha256 <hex>", "what the image must be")
    .addOption(new Option("--desktop <name>", "what to start").choices(desktopNames).default("openbox"))
    .addOption(profileOption())
    .option("--sudo", "let setuid files give rights inside, so that sudo works")
    .option("--plan", "print what would be mounted, given up and run, and start nothing");
  withCommonOptions(command).action((flags: UpFlags) =>
    context.run(flags, async ({ home, progress, signal }) => {
      await createHome(home);
      await sweep(home, progress);
      const request: UpRequest = {
        image: flags.image,
        expectedSha256: flags.sha256,
        desktop: flags.desktop,
        profile: flags.profile,
        sudo: flags.sudo ?? false,
      };
      const options = { step: progress.step, signal };
      return flags.plan ? showPlan(home, request, options) : up(home, request, options);
    }),
  );
}

async function up(home: Home, request: UpRequest, options: UpOptions): Promise<CommandResult> {
  const { live, folder, ready } = await upSession(home, request, options);
  live.close();
  const { init, spec } = live.record;
  return {
    document: { id: folder.id, path: folder.path, init, spec, verdict: ready.verdict },
    text: `${folder.id}\n  ${spec.desktop}, ${spec.profile}, usable ${durationText(ready.elapsedMs)} after its start\n`,
  };
}

async function showPlan(home: Home, request: UpRequest, options: UpOptions): Promise<CommandResult> {
  const { plan, externals } = await planSession(home, request, options);
  const seccomp = plan.seccomp && Buffer.from(plan.seccomp).toString("hex");
  return { document: { plan: { ...plan, seccomp }, externals }, text: describePlan(plan) };
}
