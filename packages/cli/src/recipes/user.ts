import type { RecipeUser } from "./types.js";

/** The account of every stand-in image; OSWorld's images use the same name and uid. */
export const STANDARD_USER: RecipeUser = {
  name: "user",
  uid: 1000,
  gid: 1000,
  home: "/home/user",
  shell: "/bin/bash",
  sudo: true,
};
