import { expect, test } from "vitest";
import {
  desktopNames,
  findApplication,
  findDesktop,
  findImageRecipe,
  imageNames,
} from "../../src/recipes/index.js";

test.each(desktopNames)("%s starts its X server first, on the screen that is asked for", (name) => {
  for (const screen of [
    { width: 1280, height: 800 },
    { width: 1920, height: 1080 },
  ]) {
    const { programs, display, xServer } = findDesktop(name, { screen });
    const [server] = programs;
    expect(server).toMatchObject({ name: "xserver", startsAfter: [], runs: "stays" });
    expect(display).toMatchObject(screen);
    expect(server?.argv).toContain(display.name);
    expect(server?.argv).toContain(`${screen.width}x${screen.height}x24`);
    const frameFolder = server?.argv[server.argv.indexOf("-fbdir") + 1];
    expect(xServer.frameFile).toBe(`${frameFolder}/Xvfb_screen0`);
  }
});

test("Xorg on the dummy driver has a configuration of its own with a mode of just the size asked for", () => {
  const screen = { width: 1366, height: 768 };
  const { programs, files, xServer } = findDesktop("openbox", { screen, xServer: "xorg-dummy" });
  expect(programs[0]?.argv).toEqual(expect.arrayContaining(["-config", files[0]?.path]));
  expect(files[0]?.content).toMatch(/Modeline "1366x768" 73.06 1366 1414 1446 1526 768 771 777 798$/m);
  expect(files[0]?.content).toMatch(/Modes "1366x768"\n\s*Virtual 1366 768$/m);
  expect(xServer.frameFile).toBeUndefined();
});

test.each(desktopNames)("every program of %s has a log of its own and a whole environment", (name) => {
  const { programs, user, display } = findDesktop(name);
  expect(new Set(programs.map((program) => program.name)).size).toBe(programs.length);
  for (const { uid, gid, env, name: log } of programs) {
    expect(log).toMatch(/^[a-z0-9-]+$/);
    expect([uid, gid]).toEqual([user.uid, user.gid]);
    expect(env).toMatchObject({ DISPLAY: display.name, HOME: user.home });
    expect(env.PATH).toContain("/usr/bin");
  }
});

test.each(desktopNames)("the folders of %s that root must make are there before the X server", (name) => {
  const { folders, display } = findDesktop(name);
  const sockets = folders.find(({ path }) => display.socket.startsWith(`${path}/`));
  expect(sockets).toMatchObject({ mode: 0o1777, uid: 0 });
});

test.each(desktopNames)(
  "each application of %s can be found by its name, and the first without one",
  (name) => {
    const desktop = findDesktop(name);
    for (const one of desktop.applications) expect(findApplication(desktop, one.name)).toBe(one);
    expect(findApplication(desktop)).toBe(desktop.applications[0]);
    expect(() => findApplication(desktop, "emacs")).toThrow(
      expect.objectContaining({ code: "UNKNOWN_APPLICATION", exitCode: 2 }),
    );
  },
);

test("gnome is started as the image's own session file wants it, Ubuntu's before the plain one", () => {
  const session = findDesktop("gnome").programs.find((program) => program.name === "gnome-session");
  expect(session?.argv).toEqual(["gnome-session", "--builtin", "--session=gnome"]);
  expect(session?.variants).toMatchObject([
    {
      whereFile: "/usr/share/gnome-session/sessions/ubuntu.session",
      argv: ["gnome-session", "--builtin", "--session=ubuntu"],
      env: { GNOME_SHELL_SESSION_MODE: "ubuntu", XDG_CURRENT_DESKTOP: "ubuntu:GNOME" },
    },
  ]);
});

test("an unknown name is a fault of usage that lists the known ones", () => {
  expect(() => findDesktop("kde")).toThrow(
    expect.objectContaining({
      code: "UNKNOWN_DESKTOP",
      exitCode: 2,
      hint: `use one of: ${desktopNames.join(", ")}`,
    }),
  );
  expect(() => findImageRecipe("kde")).toThrow(
    expect.objectContaining({
      code: "UNKNOWN_IMAGE_RECIPE",
      exitCode: 2,
      hint: `use one of: ${imageNames.join(", ")}`,
    }),
  );
});

test("no image recipe installs an X server", () => {
  for (const name of imageNames)
    expect(findImageRecipe(name).packages.filter((entry) => /xserver|xvfb|xorg/.test(entry))).toEqual([]);
});
