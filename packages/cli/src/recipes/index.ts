export {
  desktopNames,
  findApplication,
  findDesktop,
  findImageRecipe,
  imageNames,
  xServerNames,
} from "./find.js";
export { recipeHash } from "./hash.js";
export { LEAN_SETTINGS, type LeanName, type LeanRequest, leanNames } from "./lean.js";
export type * from "./types.js";
