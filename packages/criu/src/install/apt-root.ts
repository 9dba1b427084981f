import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExecaError, execa } from "execa";
import { CriuError } from "../errors.js";
import { archiveFor, readArchives, readCodename } from "./archive.js";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** A package as a suite's list has it. */
export interface ServedPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

/** An apt of our own: other sources, other state, other cache, an empty dpkg status. */
export interface AptRoot {
  /** sha256 by `name=version`, of those versions that are served. */
  servedHashes(pins: readonly { name: string; version: string }[]): Promise<Map<string, string>>;
  /** What the suite serves of these, newest version each. */
  candidates(names: readonly string[]): Promise<ServedPackage[]>;
  /** Downloads packages into a folder; apt names the files. */
  download(pins: readonly { name: string; version: string }[], options: { target: string }): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Makes a private apt root for one suite and fetches its package list.
 * The machine's own apt state is neither read nor written; proxies and credentials of its
 * configuration stay in force, its hooks do not (they would touch the machine's cache).
 * @throws {CriuError} `APT_FAILED`, `NO_DEBIAN_ARCHIVE`, `PROGRAM_MISSING`
 */
export async function openAptRoot(suite: string, options: { architecture: string }): Promise<AptRoot> {
  const archives = await readArchives().catch((error: unknown) => {
    throw aptFailed("apt-get indextargets", error);
  });
  const uri = archiveFor(suite, { archives, codename: await readCodename() });
  const root = await mkdtemp(join(tmpdir(), "drums-apt-"));
  try {
    const config = await writeConfig(root, { suite, uri, architecture: options.architecture });
    await apt("apt-get", ["-c", config, "-qq", "update"]);
    return rootWith(root, config);
  } catch (error) {
    await rm(root, { recursive: true, force: true });
    throw error;
  }
}

function rootWith(root: string, config: string): AptRoot {
  const show = async (args: readonly string[]) => {
    // Exits 100 where one is not served, and still shows the others.
    const { stdout } = await execa("apt-cache", ["-c", config, "show", ...args], { reject: false });
    return parseShownPackages(stdout);
  };
  return {
    servedHashes: async (pins) => {
      const served = await show(pins.map(({ name, version }) => `${name}=${version}`));
      return new Map(served.map(({ name, version, sha256 }) => [`${name}=${version}`, sha256]));
    },
    candidates: (names) => show(["--no-all-versions", ...names]),
    download: async (pins, { target }) => {
      const names = pins.map(({ name, version }) => `${name}=${version}`);
      await apt("apt-get", ["-c", config, "-qq", "download", ...names], target);
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** The packages in the stanzas that `apt-cache show` prints. */
export function parseShownPackages(text: string): ServedPackage[] {
  return text.split(/\n\n+/).flatMap((stanza) => {
    const [name, version, sha256] = ["Package", "Version", "SHA256"].map((field) =>
      new RegExp(`^${field}: (.+)$`, "m").exec(stanza)?.[1]?.trim(),
    );
    return name !== undefined && version !== undefined && sha256 !== undefined
      ? [{ name, version, sha256 }]
      : [];
  });
}

/** apt.conf(5): a file given by -c is read after the machine's own, so #clear removes its hooks. */
async function writeConfig(
  root: string,
  { suite, uri, architecture }: { suite: string; uri: string; architecture: string },
): Promise<string> {
  const folders = ["etc", "state/lists/partial", "cache/archives/partial"];
  await Promise.all(folders.map((folder) => mkdir(join(root, folder), { recursive: true })));
  const signed = await access(KEYRING).then(
    () => ` signed-by=${KEYRING}`,
    () => "",
  );
  await writeFile(join(root, "state/status"), "");
  await writeFile(
    join(root, "etc/sources.list"),
    `deb [arch=${architecture}${signed}] ${uri} ${suite} main\n`,
  );
  const config = join(root, "apt.conf");
  await writeFile(
    config,
    `#clear APT::Update;
#clear DPkg;
APT::Architecture "${architecture}";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::Etc::sourcelist "${root}/etc/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "${root}/state";
Dir::State::status "${root}/state/status";
Dir::Cache "${root}/cache";
`,
  );
  return config;
}

async function apt(program: string, args: readonly string[], cwd = "/"): Promise<string> {
  try {
    const { stdout } = await execa(program, args, {
      cwd,
      env: { LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" },
    });
    return stdout;
  } catch (error) {
    throw aptFailed(`${program} ${args.slice(2).join(" ")}`, error);
  }
}

function aptFailed(call: string, error: unknown): CriuError {
  const missing = error instanceof ExecaError && error.code === "ENOENT";
  const reason = error instanceof ExecaError ? error.stderr || error.shortMessage : String(error);
  return new CriuError(missing ? "PROGRAM_MISSING" : "APT_FAILED", `${call} failed: ${reason}`, {
    hint: missing
      ? "Packages are fetched by apt: use a Debian machine, or name a folder of the .deb files as debsFolder"
      : "See whether apt-get update works on this machine, or name a folder of the .deb files as debsFolder",
    cause: error,
  });
}
