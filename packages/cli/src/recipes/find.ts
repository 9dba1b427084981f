import { DrumsError, EXIT } from "../errors.js";
import { gnomeDesktop } from "./desktops/gnome.js";
import { openboxDesktop } from "./desktops/openbox.js";
import { gnomeImage } from "./images/gnome.js";
import { openboxImage } from "./images/openbox.js";
import { type LeanRequest, withLean } from "./lean.js";
import type {
  ApplicationRecipe,
  DesktopRecipe,
  DesktopWithoutScreen,
  ImageRecipe,
  Screen,
  ScreenRequest,
  XServerName,
  XServerRecipe,
} from "./types.js";
import { onScreen } from "./x-servers/display.js";
import { xorgDummy } from "./x-servers/xorg-dummy.js";
import { xvfb } from "./x-servers/xvfb.js";

const IMAGES: readonly ImageRecipe[] = [openboxImage, gnomeImage];
const DESKTOPS: readonly DesktopWithoutScreen[] = [openboxDesktop, gnomeDesktop];
const X_SERVERS: Readonly<Record<XServerName, XServerRecipe>> = { xvfb, "xorg-dummy": xorgDummy };

/** Names of the X servers that a session can have. */
export const xServerNames = Object.keys(X_SERVERS) as readonly XServerName[];

/** The size that OSWorld-like tasks have been recorded in here. */
const STANDARD_SCREEN: Screen = { width: 1280, height: 800 };

/** Names of the images that `buildImage` can make. */
export const imageNames: readonly string[] = IMAGES.map(({ name }) => name);

/** Names of the desktops that a session can start. */
export const desktopNames: readonly string[] = DESKTOPS.map(({ name }) => name);

/** @throws DrumsError UNKNOWN_IMAGE_RECIPE, a usage fault */
export function findImageRecipe(name: string): ImageRecipe {
  return IMAGES.find((recipe) => recipe.name === name) ?? unknown("image", name, imageNames);
}

/**
 * A desktop by its name, on the screen and with the lean settings that are asked for.
 * @throws DrumsError UNKNOWN_DESKTOP, a usage fault
 */
export function findDesktop(
  name: string,
  { screen = STANDARD_SCREEN, xServer = "xvfb", lean = [] }: ScreenRequest & LeanRequest = {},
): DesktopRecipe {
  const desktop = DESKTOPS.find((recipe) => recipe.name === name) ?? unknown("desktop", name, desktopNames);
  return withLean(onScreen(desktop, { xServer: findXServer(xServer), screen }), lean);
}

/** An X server by its name. */
export function findXServer(name: XServerName): XServerRecipe {
  return X_SERVERS[name];
}

/** The application of a desktop by its name, its first without one. @throws DrumsError UNKNOWN_APPLICATION, a usage fault */
export function findApplication(
  { applications }: Pick<DesktopRecipe, "applications">,
  name?: string,
): ApplicationRecipe {
  if (name === undefined) return applications[0];
  const known = applications.map((one) => one.name);
  return applications.find((one) => one.name === name) ?? unknown("application", name, known);
}

const UNKNOWN = {
  image: "UNKNOWN_IMAGE_RECIPE",
  desktop: "UNKNOWN_DESKTOP",
  application: "UNKNOWN_APPLICATION",
} as const;

function unknown(kind: keyof typeof UNKNOWN, name: string, known: readonly string[]): never {
  throw new DrumsError({
    code: UNKNOWN[kind],
    exitCode: EXIT.usage,
    what: `there is no ${kind} recipe named ${JSON.stringify(name)}`,
    hint: `use one of: ${known.join(", ")}`,
  });
}
