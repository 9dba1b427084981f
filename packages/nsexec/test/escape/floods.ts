import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { errnoName, type InitClient, type SessionRoot } from "../../src/index.js";

const SOURCE = fileURLToPath(new URL("floods/floods.c", import.meta.url));

/** Puts the program that takes all there is into a root. */
export function plantFloods(root: string): void {
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  execFileSync("gcc", ["-static", "-O1", "-std=gnu17", "-o", join(root, "usr/bin/floods"), SOURCE]);
}

/** A flood that has taken all it gets, and holds on to it. */
export interface Flood {
  readonly amount: number;
  /** What ended it, by the errno's name. */
  readonly ended: string;
  /** Ends it and all that it forked. */
  stop(): Promise<void>;
}

/** Starts a flood in a session and waits until it gets no more. `said` is where it tells that: not where it floods. */
export async function flood(
  { init, root }: { readonly init: InitClient; readonly root: SessionRoot },
  argv: readonly string[],
  uid = 1000,
  said = "/run/drums/flood",
): Promise<Flood> {
  const stdout = said;
  const { pid } = await init.spawn({
    argv: ["floods", ...argv],
    env: { PATH: "/usr/bin:/bin" },
    uid,
    gid: uid,
    stdout,
  });
  for (let tries = 0; tries < 1500; tries++) {
    const told =
      (await root.readFile(stdout).catch(() => Buffer.alloc(0))).toString().trim().split("\n").at(-1) ?? "";
    const [, amount, errno] = /^(\d+) (\d+)$/.exec(told) ?? [];
    if (amount !== undefined)
      return {
        amount: Number(amount),
        ended: errnoName(Number(errno)),
        stop: async () => {
          await init.signal(-pid, "SIGKILL");
          await init.wait(pid);
          await init.run({ argv: ["rm", "-f", stdout], env: { PATH: "/usr/bin:/bin" } });
        },
      };
    await sleep(20);
  }
  throw new Error(`floods ${argv.join(" ")} did not come to an end`);
}
