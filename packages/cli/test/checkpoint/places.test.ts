import { expect, test } from "vitest";
import { fromPlace, toPlace, withPlaces } from "../../src/checkpoint/places.js";
import { checkpointFolder } from "../../src/checkpoint/store.js";
import { homeAt } from "../../src/home.js";

const home = homeAt("/srv/drums");
const ground = { home, folder: checkpointFolder(home, "c") };
const moved = { home: homeAt("/other"), folder: checkpointFolder(homeAt("/other"), "renamed") };

test.each([
  ["/srv/drums/checkpoints/c/upper", "checkpoint:upper", "/other/checkpoints/renamed/upper"],
  ["/srv/drums/checkpoints/b/upper", "home:checkpoints/b/upper", "/other/checkpoints/b/upper"],
  ["/srv/drums/layers/init-1/root", "home:layers/init-1/root", "/other/layers/init-1/root"],
  ["/images/a.qcow2", "/images/a.qcow2", "/images/a.qcow2"],
])("%s is kept as %s and found after a move at %s", (path, place, found) => {
  expect(toPlace(path, ground)).toBe(place);
  expect(fromPlace(place, ground)).toBe(path);
  expect(fromPlace(place, moved)).toBe(found);
});

test.each(["home:../etc", "checkpoint:a/../../b", "home:/etc"])(
  "%s leaves its ground and is refused",
  (place) => {
    expect(() => fromPlace(place, ground)).toThrowError(
      expect.objectContaining({ code: "MANIFEST_INVALID" }),
    );
  },
);

test("a session's image and layers are changed, and nothing else of it", () => {
  const session = { image: { path: "/i", sha256: "s" }, layers: [{ path: "/l", kind: "deb" }], desktop: "d" };
  expect(withPlaces(session, (path) => `x:${path}`)).toEqual({
    image: { path: "x:/i", sha256: "s" },
    layers: [{ path: "x:/l", kind: "deb" }],
    desktop: "d",
  });
});
