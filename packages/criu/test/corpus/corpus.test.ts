import { testNeeding } from "../../../../tools/testing/needs.js";
import { DEFAULT_VERSION, PINNED_VERSIONS } from "../../src/index.js";
import { CRIU_NEEDS } from "../helpers/criu.js";
import { compare, RECORDING } from "./compare.js";
import { readRecords } from "./record.js";

const NEEDS = [...CRIU_NEEDS, "program:gcc", "program:mke2fs", "loop"] as const;

/** Cases that one version took otherwise than the default did, on any kernel that was recorded. */
function differing(version: string): string[] {
  const ids = readRecords().flatMap(({ versions }) => {
    const [own, common] = [versions[version] ?? {}, versions[DEFAULT_VERSION] ?? {}];
    return Object.keys(own).filter((id) => own[id]?.outcome.kind !== common[id]?.outcome.kind);
  });
  return [...new Set(ids)];
}

testNeeding(
  NEEDS,
  `with CRIU ${DEFAULT_VERSION} every case comes as the audit foretells, and as it was recorded`,
  () => compare(DEFAULT_VERSION),
  600_000,
);

for (const version of PINNED_VERSIONS.filter((one) => one !== DEFAULT_VERSION))
  testNeeding(
    NEEDS,
    `with CRIU ${version} what differs from ${DEFAULT_VERSION} comes as the audit foretells, and as recorded`,
    () => compare(version, { only: RECORDING ? undefined : differing(version) }),
    600_000,
  );
