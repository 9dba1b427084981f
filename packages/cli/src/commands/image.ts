import type { ImageFormat } from "@drums/rootfs";
import { type Command, Option } from "commander";
import { EXIT } from "../errors.js";
import { buildImage, checkImage } from "../image/index.js";
import { builtText, checkText } from "../image/text.js";
import { imageNames } from "../recipes/index.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";

/** `drums image build|inspect|verify`. */
export function registerImage(program: Command, context: CommandContext): void {
  const group = program.command("image").description("make and check disk images");
  registerBuild(group, context);
  registerInspect(group, context);
  registerVerifyImage(group, context);
}

function registerBuild(group: Command, context: CommandContext): void {
  const command = group
    .command("build")
    .description("make a stand-in image from Debian's packages, or reuse the one built before")
    .argument("<recipe>", `one of: ${imageNames.join(", ")}`);
  withCommonOptions(command).action((recipe: string, options: CommonOptions) =>
    context.run(options, async ({ home, progress, signal }) => {
      const built = await buildImage(recipe, {
        home,
        signal,
        step: progress.step,
        onDetail: progress.update,
      });
      return { document: built, text: builtText(built) };
    }),
  );
}

type FileOptions = CommonOptions & { readonly format?: ImageFormat };

function registerInspect(group: Command, context: CommandContext): void {
  const command = withFormat(group.command("inspect"))
    .description("show an image's header, partitions and journal state; nothing is mounted")
    .argument("<file>", "a qcow2 or raw image");
  withCommonOptions(command).action((file: string, options: FileOptions) =>
    check(file, { ...options, digest: false }, context),
  );
}

function registerVerifyImage(group: Command, context: CommandContext): void {
  const command = withFormat(group.command("verify"))
    .description("check that an image can be used and is the pinned one; exit status 1 where it is not")
    .argument("<file>", "a qcow2 or raw image")
    .option("--sha256 <hex>", "what it must be (default: the record beside the file)");
  withCommonOptions(command).action((file: string, options: FileOptions & { readonly sha256?: string }) =>
    check(file, options, context),
  );
}

function withFormat(command: Command): Command {
  return command.addOption(
    new Option("--format <format>", "default: by the file's name, else its first bytes").choices([
      "qcow2",
      "raw",
    ]),
  );
}

function check(
  file: string,
  options: FileOptions & { readonly sha256?: string; readonly digest?: boolean },
  context: CommandContext,
): Promise<void> {
  return context.run(options, async ({ home }) => {
    const { format, sha256: expected, digest = true } = options;
    const result = await checkImage(file, { format, expected, digest, cacheDir: home.cache });
    return {
      exitCode: result.ok ? EXIT.done : EXIT.verdictFailed,
      document: result,
      text: (table) => checkText(result, table),
    };
  });
}
