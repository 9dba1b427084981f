import type { ImageFormat } from "@drums/rootfs";
import { type Command, Option } from "commander";
import { EXIT } from "../errors.js";
import { auditText } from "../image/audit-text.js";
import { auditImage, buildImage, checkImage } from "../image/index.js";
import { builtText, checkText } from "../image/text.js";
import { imageNames } from "../recipes/index.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { countOption, insidePathOption } from "./_options.js";

/** `drums image build|inspect|verify|audit`. */
export function registerImage(program: Command, context: CommandContext): void {
  const group = program.command("image").description("make and check disk images");
  registerBuild(group, context);
  registerInspect(group, context);
  registerVerifyImage(group, context);
  registerAudit(group, context);
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

interface AuditFlags extends FileOptions {
  readonly uid: number;
  readonly program: readonly string[];
  readonly deb: readonly string[];
}

function registerAudit(group: Command, context: CommandContext): void {
  const command = withFormat(group.command("audit"))
    .description("look a root over for what a desktop needs; exit status 1 where something of it is missing")
    .argument("<file>", "a qcow2 or raw image, or a folder; it is mounted read-only meanwhile")
    .option("--uid <number>", "the user that the desktop runs as", countOption, 1000)
    .option("--program <path>", "a program whose libraries are followed too; may be given again", addPath, [])
    .option("--deb <file>", "a package of a layer to be; may be given again", addFile, []);
  withCommonOptions(command).action((file: string, flags: AuditFlags) =>
    context.run(flags, async ({ home, progress, signal }) => {
      const { uid, program: programs, deb: debs, format } = flags;
      const audit = await auditImage(file, {
        home,
        signal,
        step: progress.step,
        uid,
        programs,
        debs,
        ...(format && { format }),
      });
      return {
        exitCode: audit.ok ? EXIT.done : EXIT.verdictFailed,
        document: audit,
        text: (table) => auditText(audit, table),
      };
    }),
  );
}

const addPath = (path: string, before: readonly string[]) => [...before, insidePathOption(path)];
const addFile = (path: string, before: readonly string[]) => [...before, path];

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
