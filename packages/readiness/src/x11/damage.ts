import { ReadinessError } from "../errors.js";
import type { XSession } from "./connection.js";
import { damageCreate, damageDestroy, damageQueryVersion, damageSubtract } from "./requests.js";

/** Tells when something was drawn, so that a wait need not poll fast. */
export interface DamageWatch {
  /** Resolves with true as soon as anything was drawn since the last call, with false after `timeoutMs`. */
  changed(timeoutMs: number): Promise<boolean>;
  close(): void;
}

/**
 * Watches the root window and all on it by the DAMAGE extension. A compositor's own surface may be missed,
 * so it wakes a wait early but never replaces its polling. Throws X_EXTENSION_MISSING without DAMAGE.
 */
export async function watchDamage(x: XSession): Promise<DamageWatch> {
  const extension = await x.extension("DAMAGE");
  if (extension === undefined)
    throw new ReadinessError("X_EXTENSION_MISSING", "the X server has no DAMAGE", {
      hint: "wait by polling alone",
    });
  const damage = x.newId();
  let isDirty = false;
  let wake: (() => void) | undefined;
  const stop = x.onEvent((event) => {
    if ((event.readUInt8(0) & 0x7f) !== extension.firstEvent) return;
    isDirty = true;
    wake?.();
  });
  await x.call(damageQueryVersion(extension));
  await x.command(damageCreate(extension, damage, x.setup.root), { confirm: true });
  const changed = async (timeoutMs: number) => {
    if (!isDirty)
      await wakeOrTimeout(timeoutMs, (resolve) => {
        wake = resolve;
      });
    wake = undefined;
    const wasDirty = isDirty;
    isDirty = false;
    if (wasDirty && x.failure === undefined) await x.command(damageSubtract(extension, damage));
    return wasDirty;
  };
  const close = () => {
    stop();
    if (x.failure === undefined) x.command(damageDestroy(extension, damage));
  };
  return { changed, close };
}

async function wakeOrTimeout(timeoutMs: number, listen: (resolve: () => void) => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
    listen(resolve);
  });
  clearTimeout(timer);
}
