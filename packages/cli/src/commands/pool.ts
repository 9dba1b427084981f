import type { Criu } from "@drums/criu";
import type { Command } from "commander";
import { loadCheckpoint } from "../checkpoint/load.js";
import { criuForCheckpoint } from "../criu.js";
import { DrumsError, EXIT } from "../errors.js";
import type { Home } from "../home.js";
import { fillPools, MOST_POOLED, poolSize, removeSurplus, setPoolSize, warmSiblings } from "../pool/index.js";
import { type CommandContext, type CommonOptions, withCommonOptions } from "./_context.js";
import { countOption } from "./_options.js";
import { sweep } from "./_sweep.js";

interface PoolFlags extends CommonOptions {
  readonly size?: number;
}

/** Fills the pools of a home: what a fork that took from one starts in the background. */
export const FILL = ["pool", "--fill"] as const;

/** `drums pool C --size K`: warm siblings that a fork takes at once; each is made again in the background. */
export function registerPool(program: Command, context: CommandContext): void {
  const command = program
    .command("pool")
    .description("keep warm siblings of a checkpoint, stopped, for `drums fork` to take at once")
    .argument("[checkpoint]")
    .option("--size <count>", "how many to keep; 0 gives the pool up", countOption)
    .option("--fill", "fill every pool of the home up to its size");
  withCommonOptions(command).action(
    (name: string | undefined, { size, fill, ...flags }: PoolFlags & { readonly fill?: boolean }) =>
      context.run(flags, async ({ home, progress, signal }) => {
        if (fill !== true && (name === undefined || size === undefined)) throw incomplete();
        await sweep(home, progress);
        const criuOf = (checkpoint: string) => criuForCheckpoint(home, checkpoint, { progress });
        const removed =
          name !== undefined && size !== undefined
            ? await resize(home, name, { size, criu: await criuOf(name) })
            : [];
        const made = await progress.step("filling", () =>
          fillPools(home, { criuOf, signal, onWarm: (id) => progress.note(id) }),
        );
        const state = name === undefined ? {} : await stateOf(home, name);
        return {
          document: { ...state, made, removed },
          text: [...made.map((id) => `${id}  warm`), ...removed.map((id) => `${id}  removed`), ""].join("\n"),
        };
      }),
  );
}

async function resize(
  home: Home,
  name: string,
  { size, criu }: { readonly size: number; readonly criu: Criu },
): Promise<string[]> {
  if (size > MOST_POOLED) throw tooLarge(size);
  await loadCheckpoint(home, name, { criu });
  await setPoolSize(home, name, size);
  return removeSurplus(home, name, size);
}

async function stateOf(home: Home, checkpoint: string) {
  const warm = await warmSiblings(home, checkpoint);
  return { checkpoint, size: await poolSize(home, checkpoint), warm: warm.map(({ folder }) => folder.id) };
}

function incomplete(): DrumsError {
  return new DrumsError({
    code: "USAGE",
    exitCode: EXIT.usage,
    what: "a pool is of a checkpoint and has a size",
    hint: "drums pool CHECKPOINT --size COUNT",
  });
}

function tooLarge(size: number): DrumsError {
  return new DrumsError({
    code: "USAGE",
    exitCode: EXIT.usage,
    what: `a pool keeps at most ${MOST_POOLED} siblings, not ${size}`,
    hint: "each holds its memory: keep as many as are taken in the time that it takes to make them again",
  });
}
