import { type Command, Option } from "commander";
import { createHome } from "../home.js";
import { desktopNames } from "../recipes/index.js";
import { durationText } from "../render/style.js";
import { upSession } from "../session/up.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { type ProfileChoice, profileOption } from "./_options.js";

import { sweep } from "./_sweep.js";

interface UpFlags extends CommonOptions, ProfileChoice {
  readonly image: string;
  readonly sha256?: string;
  readonly desktop: string;
}

/** `drums up`: a session from an image, ready to use. It outlives the command. */
export function registerUp(program: Command, context: CommandContext): void {
  const command = program
    .command("up")
    .description("bring a desktop up from an image and wait until it is usable")
    .requiredOption("--image <file>", "a qcow2 or raw image")
    .option("--sha256 <hex>", "what the image must be")
    .addOption(new Option("--desktop <name>", "what to start").choices(desktopNames).default("openbox"))
    .addOption(profileOption());
  withCommonOptions(command).action((flags: UpFlags) =>
    context.run(flags, async ({ home, progress, signal }) => {
      await createHome(home);
      await sweep(home, progress);
      const { live, folder, ready } = await upSession(
        home,
        {
          image: flags.image,
          expectedSha256: flags.sha256,
          desktop: flags.desktop,
          profile: flags.profile,
        },
        { step: progress.step, signal },
      );
      live.close();
      const { init, spec } = live.record;
      return {
        document: { id: folder.id, path: folder.path, init, spec, verdict: ready.verdict },
        text: `${folder.id}\n  ${spec.desktop}, ${spec.profile}, usable ${durationText(ready.elapsedMs)} after its start\n`,
      };
    }),
  );
}
