import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MountStep } from "@drums/nsexec";
import type { StartOptions } from "../rpc/start.js";

/*
 * CRIU keeps what lies in a tmpfs by `tar --gzip` while all is frozen (criu/filesystems.c), and tar calls the first
 * `gzip` of PATH: packing takes some 25 s for each GiB. One that copies takes a tenth of that. A dump and its restores
 * must use the same.
 */

const COPIES = "#!/bin/sh\nexec cat\n";
/** In criu's own /tmp. tar runs as the root of the session's user namespace, to whom folders of a home are closed. */
const IN_PRIVATE_TMP = "/tmp/.drums-plain";

/** A `gzip` that copies, for one call of criu. */
export interface PlainTmpfs {
  /** To be made after a private /tmp. */
  readonly steps: readonly MountStep[];
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/** Prepares it. Without a private /tmp it lies in a folder of the host's temporary one, until `remove`. */
export function plainTmpfs({
  env = { PATH: process.env.PATH ?? "/usr/sbin:/usr/bin:/sbin:/bin" },
  hasPrivateTmp,
}: Pick<StartOptions, "env"> & { readonly hasPrivateTmp: boolean }): PlainTmpfs {
  const folder = hasPrivateTmp ? IN_PRIVATE_TMP : onHost();
  return {
    env: { ...env, PATH: `${folder}:${env.PATH}` },
    steps: hasPrivateTmp
      ? [
          { kind: "folder", path: folder, mode: 0o755 },
          { kind: "file", path: join(folder, "gzip"), content: COPIES, mode: 0o755 },
        ]
      : [],
    remove: () => {
      if (!hasPrivateTmp) rmSync(folder, { recursive: true });
    },
  };
}

function onHost(): string {
  const folder = mkdtempSync(join(tmpdir(), "drums-plain-"));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "gzip"), COPIES, { mode: 0o755 });
  return folder;
}
