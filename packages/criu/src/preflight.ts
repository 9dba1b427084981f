import { access, constants, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { type CriuCheck, checkCriu } from "./check.js";
import { CriuError } from "./errors.js";
import { type Criu, findCriu } from "./install/find.js";
import { lacksResourceCapability, readCapEff } from "./install/shim.js";
import { kernelCacheKey } from "./kernel-cache.js";

/** One line of a preflight: a gap or blocker always has a remedy. */
export interface PreflightItem {
  readonly name: string;
  readonly status: "ok" | "gap" | "blocker";
  readonly detail: string;
  readonly remedy?: string;
}

/** Options of {@link preflight}. */
export interface PreflightOptions {
  /** The folder that holds `criu/<version>/`. */
  readonly home: string;
  /** A bundle of just this version. Default: what `findCriu` takes. */
  readonly version?: string;
  /** Folders searched for host programs. Default: PATH. */
  readonly path?: string;
}

/** Host programs that CRIU calls: `tar` and `gzip` for what lies in tmpfs, `ip` for a net namespace. */
const PROGRAMS = { ip: "iproute2", tar: "tar", gzip: "gzip" } as const;

/** What this machine lacks for dumps and restores. `criu check` is asked once a boot and CRIU, then remembered. */
export async function preflight(options: PreflightOptions): Promise<PreflightItem[]> {
  const programs = await Promise.all(
    Object.entries(PROGRAMS).map(([program, name]) =>
      programItem(program, name, options.path ?? process.env.PATH ?? ""),
    ),
  );
  return [...(await criuItems(options)), ...programs];
}

async function criuItems({ home, version }: PreflightOptions): Promise<PreflightItem[]> {
  let criu: Criu;
  try {
    criu = await findCriu({ home, ...(version !== undefined && { version }) });
  } catch (error) {
    if (!(error instanceof CriuError)) throw error;
    return [{ name: "criu", status: "blocker", detail: error.message, remedy: error.hint }];
  }
  const found: PreflightItem = {
    name: "criu",
    status: "ok",
    detail: `${criu.version} (${criu.source}, ${criu.file})`,
  };
  return [found, kernelItem(criu, await rememberedCheck(criu, home)), await limitsItem(criu)];
}

function kernelItem(criu: Criu, check: Pick<CriuCheck, "usable" | "problems">): PreflightItem {
  if (check.usable)
    return { name: "criu check", status: "ok", detail: `this kernel serves CRIU ${criu.version}` };
  return {
    name: "criu check",
    status: "blocker",
    detail: check.problems.join("; "),
    remedy:
      "Run as root on a kernel with CONFIG_CHECKPOINT_RESTORE; in a container keep CAP_SYS_ADMIN and CAP_SYS_PTRACE",
  };
}

async function limitsItem(criu: Criu): Promise<PreflightItem> {
  const name = "criu limits";
  if (!lacksResourceCapability(await readCapEff()))
    return { name, status: "ok", detail: "CAP_SYS_RESOURCE is held" };
  if (criu.shim !== undefined)
    return { name, status: "ok", detail: "no CAP_SYS_RESOURCE: the preload shim answers" };
  return {
    name,
    status: "gap",
    detail: "no CAP_SYS_RESOURCE and no preload shim: only sessions with a user namespace can be dumped",
    remedy: "Install a C compiler and remove the bundle's folder, then install it again",
  };
}

async function programItem(program: string, name: string, path: string): Promise<PreflightItem> {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, program);
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return { name: program, status: "ok", detail: file };
  }
  return {
    name: program,
    status: "blocker",
    detail: `${program} is not on PATH`,
    remedy: `apt-get install ${name}`,
  };
}

/** The outcome of `criu check`, kept under the home for this kernel, boot and CRIU. */
async function rememberedCheck(criu: Criu, home: string): Promise<Pick<CriuCheck, "usable" | "problems">> {
  const folder = join(home, "criu", "kernel");
  const file = join(folder, `${await kernelCacheKey(criu)}.check`);
  if ((await readFile(file, "utf8").catch(() => "")) === "usable\n") return { usable: true, problems: [] };
  const check = await checkCriu(criu);
  if (!check.usable) return check;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, "usable\n");
  return check;
}
