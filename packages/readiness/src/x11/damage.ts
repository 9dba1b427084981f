import { Bell, type Watch } from "../bell.js";
import { ReadinessError } from "../errors.js";
import type { XSession } from "./connection.js";
import { damageCreate, damageDestroy, damageQueryVersion, damageSubtract } from "./requests.js";

/** Tells when something was drawn, so that a wait need not poll fast. */
export interface DamageWatch extends Watch {
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
  const bell = new Bell();
  const stop = x.onEvent((event) => {
    if ((event.readUInt8(0) & 0x7f) === extension.firstEvent) bell.ring();
  });
  await x.call(damageQueryVersion(extension));
  await x.command(damageCreate(extension, damage, x.setup.root), { confirm: true });
  return {
    async changed(timeoutMs, options) {
      const isDirty = await bell.changed(timeoutMs, options);
      if (isDirty && x.failure === undefined) await x.command(damageSubtract(extension, damage));
      return isDirty;
    },
    close() {
      stop();
      if (x.failure === undefined) x.command(damageDestroy(extension, damage));
    },
  };
}
