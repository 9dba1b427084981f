import { access } from "node:fs/promises";
import { DrumsError, EXIT } from "../errors.js";
import { runHostProgram } from "./host-program.js";

/** A repository of the machine's own apt configuration. */
export interface AptRepository {
  readonly uri: string;
  /** As configured, such as `bookworm-security`. */
  readonly suite: string;
  readonly component: string;
}

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const FIELDS = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)";

/** How this machine reaches its mirror; nothing else of its configuration bears on what is fetched. */
const PASSED_OPTIONS =
  /^Acquire::(?:https?::|Check-(?:Valid-Until|Date)\b|Max-ValidTime\b|Retries\b|ForceIPv[46]\b)/;

/** Parses the lines that `apt-get indextargets --format` prints for `URI|SUITE|COMPONENT`. */
export function parseRepositories(text: string): AptRepository[] {
  const lines = new Set(text.split("\n").filter((line) => line.split("|").length === 3));
  return [...lines].map((line) => {
    const [uri = "", suite = "", component = ""] = line.split("|");
    return { uri, suite, component };
  });
}

/**
 * The lines of sources.list(5) for a suite with its updates and security, from the machine's own mirror.
 * A machine of another Debian release lends the mirror of its main archive for the suite alone.
 * @throws DrumsError NO_DEBIAN_MIRROR
 */
export function sourceLines(
  suite: string,
  { repositories, keyring }: { readonly repositories: readonly AptRepository[]; readonly keyring?: string },
): string[] {
  const main = repositories.filter(({ component }) => component === "main");
  const own = [suite, `${suite}-updates`, `${suite}-security`].flatMap((name) => {
    const found = main.find((repository) => repository.suite === name);
    return found === undefined ? [] : [found];
  });
  const used = own.some((repository) => repository.suite === suite) ? own : [lentMirror(suite, main)];
  const options = keyring === undefined ? "" : `[signed-by=${keyring}] `;
  return used.map(({ uri, suite: name }) => `deb ${options}${uri} ${name} main`);
}

/** Reads the machine's apt configuration for {@link sourceLines}. */
export async function readSourceLines(
  suite: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<string[]> {
  const { stdout } = await runHostProgram(["apt-get", "indextargets", "--format", FIELDS], { signal });
  const hasKeyring = await access(KEYRING).then(
    () => true,
    () => false,
  );
  return sourceLines(suite, {
    repositories: parseRepositories(stdout),
    ...(hasKeyring && { keyring: KEYRING }),
  });
}

/** The proxies, date checks and retries of the machine's apt as apt.conf(5) lines. */
export async function readAptOptions({
  signal,
}: {
  readonly signal?: AbortSignal | undefined;
} = {}): Promise<string> {
  const { stdout } = await runHostProgram(["apt-config", "dump"], { signal });
  return stdout
    .split("\n")
    .filter((line) => PASSED_OPTIONS.test(line))
    .map((line) => `${line}\n`)
    .join("");
}

/** An archive that keeps releases beside each other: its path ends in /debian, and security's does not. */
function lentMirror(suite: string, main: readonly AptRepository[]): AptRepository {
  const found = main.find(({ uri }) => /\/debian\/?$/.test(uri));
  if (found !== undefined) return { ...found, suite };
  throw new DrumsError({
    code: "NO_DEBIAN_MIRROR",
    exitCode: EXIT.blocker,
    what: `this machine's apt configuration names no Debian archive that serves ${suite}`,
    where: "/etc/apt",
    hint: `add a line "deb MIRROR ${suite} main" to /etc/apt/sources.list and run apt-get update`,
  });
}
