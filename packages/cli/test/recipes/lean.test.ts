import { InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { leanOption } from "../../src/commands/_options.js";
import { desktopNames, findDesktop, LEAN_SETTINGS, leanNames } from "../../src/recipes/index.js";
import { withLean } from "../../src/recipes/lean.js";

test.each(desktopNames)("each lean setting reaches every program of %s and its applications", (name) => {
  for (const setting of leanNames) {
    const { programs, env } = findDesktop(name, { lean: [setting] });
    for (const one of [env, ...programs.map((program) => program.env)])
      expect(one).toMatchObject(LEAN_SETTINGS[setting]);
  }
  expect(findDesktop(name, { lean: [] })).toEqual(findDesktop(name));
});

test("what a recipe sets itself wins", () => {
  const desktop = findDesktop("openbox");
  const own = { ...desktop, env: { ...desktop.env, MALLOC_ARENA_MAX: "4" } };
  expect(withLean(own, leanNames).env).toMatchObject({ MALLOC_ARENA_MAX: "4", ...LEAN_SETTINGS.trim });
});

test("--lean takes names, all and none, and no other", () => {
  expect(leanOption("none")).toEqual([]);
  expect(leanOption("all")).toEqual(leanNames);
  expect(leanOption("trim,arenas")).toEqual(["trim", "arenas"]);
  expect(() => leanOption("trim,fast")).toThrow(InvalidArgumentError);
});
