import type { DesktopFacts } from "@drums/readiness";
import { z } from "zod";

const box = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });

const windowFacts = z.object({
  id: z.int(),
  title: z.string().exactOptional(),
  instance: z.string().exactOptional(),
  class: z.string().exactOptional(),
  pid: z.int().exactOptional(),
  claimedPid: z.int().exactOptional(),
  geometry: box.exactOptional(),
  mapped: z.boolean().exactOptional(),
  managed: z.boolean(),
  overrideRedirect: z.boolean().exactOptional(),
  states: z.array(z.string()).readonly(),
  types: z.array(z.string()).readonly(),
  focused: z.boolean(),
});

/** `DesktopFacts` of @drums/readiness as JSON keeps them. */
export const desktopFacts = z.object({
  source: z.enum(["x11", "text"]),
  screen: z.object({ width: z.number(), height: z.number() }).exactOptional(),
  windowManager: z.object({ name: z.string().exactOptional(), checkWindow: z.int() }).exactOptional(),
  openboxTheme: z.string().exactOptional(),
  monitors: z
    .array(box.extend({ name: z.string(), primary: z.boolean() }))
    .readonly()
    .exactOptional(),
  extensions: z.array(z.string()).readonly().exactOptional(),
  windows: z.array(windowFacts).readonly(),
  windowsLeftOut: z.int(),
  clientList: z.array(z.int()).readonly(),
  activeWindow: z.int().exactOptional(),
  inputFocus: z.int().exactOptional(),
  pointer: z.object({ x: z.number(), y: z.number() }).exactOptional(),
}) satisfies z.ZodType<DesktopFacts>;
