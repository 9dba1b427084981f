import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Criu, installCriu } from "../../src/index.js";

/** Kept between runs: every use checks the files against their hashes. */
export const TEST_HOME = process.env.DRUMS_TEST_CRIU_HOME ?? join(tmpdir(), "drums-test-criu");

/** What the tests that run criu need of the machine. */
export const CRIU_NEEDS = [
  "root",
  "program:apt-get",
  "program:dpkg-deb",
  "program:cc",
  "program:ip",
] as const;

/** A private bundle, installed once. Default: the version that is the package's own default. */
export function testCriu(version?: string): Promise<Criu> {
  return installCriu({ home: TEST_HOME, ...(version === undefined ? {} : { version }) });
}
