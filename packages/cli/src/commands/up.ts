import { describePlan, type PortRequest } from "@drums/nsexec";
import { type Command, Option } from "commander";
import { DrumsError, EXIT } from "../errors.js";
import type { Home } from "../home.js";
import { createHome } from "../home.js";
import { desktopNames, type LeanName } from "../recipes/index.js";
import { portLines } from "../render/ports.js";
import { durationText } from "../render/style.js";
import { planSession, type UpOptions, type UpRequest, upSession } from "../session/up.js";
import {
  type CommandContext,
  type CommandResult,
  type CommonOptions,
  withCommonOptions,
} from "./_context.js";
import {
  type LimitChoice,
  leanOption,
  limitRequest,
  type ProfileChoice,
  profileOption,
  publishOption,
  type ScreenChoice,
  screenRequest,
  sizeOption,
  withLimitOptions,
  withScreenOptions,
} from "./_options.js";

import { sweep } from "./_sweep.js";

interface UpFlags extends CommonOptions, ProfileChoice, ScreenChoice, LimitChoice {
  readonly image: string;
  readonly sha256?: string;
  readonly desktop: string;
  readonly lean?: readonly LeanName[];
  readonly sudo?: boolean;
  readonly upperSize?: number;
  readonly plan?: boolean;
  readonly net: "none" | "nat";
  readonly publish?: readonly PortRequest[];
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
    .option("--lean <names>", "smaller checkpoints: all, none, or names such as arenas,trim", leanOption)
    .option("--sudo", "let setuid files give rights inside, so that sudo works")
    .option(
      "--upper-size <size>",
      "the most that the session may write to its disk, and each sibling to its own, such as 512m or 8g (default: the disk)",
      sizeOption,
    )
    .addOption(
      new Option("--net <kind>", "none: lo alone; nat: out by slirp4netns, the host's loopback closed")
        .choices(["none", "nat"])
        .default("none"),
    )
    .option(
      "--publish <host:guest>",
      "with --net nat: lead a port of the host's 127.0.0.1 (0 or absent: a free one) to one inside; may be repeated",
      publishOption,
    )
    .option("--plan", "print what would be mounted, given up and run, and start nothing");
  withScreenOptions(command);
  withLimitOptions(command);
  withCommonOptions(command).action((flags: UpFlags) =>
    context.run(flags, async ({ home, progress, signal }) => {
      if (flags.publish !== undefined && flags.net === "none") throw publishNeedsNat();
      await createHome(home);
      await sweep(home, progress);
      const request: UpRequest = {
        image: flags.image,
        expectedSha256: flags.sha256,
        desktop: flags.desktop,
        ...screenRequest(flags),
        lean: flags.lean,
        profile: flags.profile,
        sudo: flags.sudo ?? false,
        upperBytes: flags.upperSize,
        network: flags.net,
        ...limitRequest(flags),
        ...(flags.publish && { publish: flags.publish }),
      };
      const options = { step: progress.step, signal };
      return flags.plan ? showPlan(home, request, options) : up(home, request, options);
    }),
  );
}

async function up(home: Home, request: UpRequest, options: UpOptions): Promise<CommandResult> {
  const { live, folder, ready } = await upSession(home, request, options);
  live.close();
  const { init, spec, network } = live.record;
  return {
    document: { id: folder.id, path: folder.path, init, spec, network, verdict: ready.verdict },
    text: `${folder.id}\n  ${spec.desktop}, ${spec.profile}, usable ${durationText(ready.elapsedMs)} after its start\n${portLines(network?.ports)}`,
  };
}

async function showPlan(home: Home, request: UpRequest, options: UpOptions): Promise<CommandResult> {
  const { plan, externals } = await planSession(home, request, options);
  const seccomp = plan.seccomp && Buffer.from(plan.seccomp).toString("hex");
  return { document: { plan: { ...plan, seccomp }, externals }, text: describePlan(plan) };
}

function publishNeedsNat(): DrumsError {
  return new DrumsError({
    code: "PUBLISH_WITHOUT_NET",
    exitCode: EXIT.usage,
    what: "a session without a network has no ports to publish",
    where: "--publish",
    hint: "add --net nat",
  });
}
