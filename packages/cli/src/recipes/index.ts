export {
  desktopNames,
  findApplication,
  findDesktop,
  findImageRecipe,
  imageNames,
  xServerNames,
} from "./find.js";
export { recipeHash } from "./hash.js";
export type * from "./types.js";
