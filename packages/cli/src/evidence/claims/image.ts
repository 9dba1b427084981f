import { parseMountinfo } from "@drums/nsexec/proc";
import { type ClaimRule, expect, unknown } from "./rule.js";

/** The image is the pinned one. */
export const imageVerified: ClaimRule = {
  id: "image-verified",
  sentence: "The image is the one asked for, by its sha256.",
  steps: ["image"],
  check: (records) => {
    const { expectedSha256 } = records.get("run.json");
    const { sha256 } = records.get("image.json");
    if (expectedSha256 === null) return [unknown(`sha256 ${sha256}; none was given to compare it with`)];
    return [
      expect(sha256 === expectedSha256, `sha256 ${sha256}`, `sha256 ${sha256}, asked for ${expectedSha256}`),
    ];
  },
};

/** The root is mounted read-only, by a way whose alternatives were each passed over for a reason. */
export const rootReadOnly: ClaimRule = {
  id: "root-read-only",
  sentence: "The image's root is mounted read-only, and each way passed over has its reason.",
  steps: ["mount"],
  check: (records) => {
    const { mountinfo, mountPoint, way, passedOver } = records.get("mount.json");
    const mount = parseMountinfo(mountinfo)
      .filter((entry) => entry.mountPoint === mountPoint)
      .at(-1);
    if (mount === undefined)
      return [expect(false, "", `the recorded mountinfo has no line for ${mountPoint}`)];
    const { options, superOptions, fsType } = mount;
    const unexplained = passedOver.filter(({ reason }) => reason.trim() === "").map((other) => other.way);
    return [
      expect(
        options.includes("ro") && superOptions.includes("ro"),
        `${fsType} by ${way}, mount and filesystem read-only`,
        `mounted ${options.join(",")} on a filesystem ${superOptions.join(",")}`,
      ),
      ...passedOver.map((other) => ({
        verdict: "holds" as const,
        text: `not by ${other.way}: ${other.reason}`,
      })),
      ...unexplained.map((other) => expect(false, "", `${other} was passed over without a reason`)),
    ];
  },
};

/** X servers that a layer may bring. */
const X_SERVERS = ["/usr/bin/Xvfb", "/usr/bin/Xorg"];

/** The image has no X server for this; a layer made from pinned packages brings it. */
export const xServerLayer: ClaimRule = {
  id: "x-server-layer",
  sentence: "The image lacks the X server that runs; a layer from packages pinned by sha256 brings it.",
  steps: ["layers"],
  check: (records) => {
    const { rootPrograms, layers } = records.get("layers.json");
    const layer = layers.find(({ brings }) => brings.some((path) => X_SERVERS.includes(path)));
    const server = layer?.brings.find((path) => X_SERVERS.includes(path));
    if (layer === undefined || server === undefined)
      return [expect(false, "", `no layer brings ${X_SERVERS.join(" or ")}`)];
    const inRoot = rootPrograms.find(({ path }) => path === server);
    if (inRoot === undefined) return [unknown(`nobody looked for ${server} in the root`)];
    return [
      expect(!inRoot.found, `no ${server} in the root`, `the root itself has ${server}`),
      expect(
        layer.debs.length > 0,
        `layer ${layer.name}: ${layer.files} files`,
        `layer ${layer.name} is from no package`,
      ),
      ...layer.debs.map((deb) =>
        expect(
          deb.sha256 === deb.expectedSha256,
          `${deb.package} ${deb.version}, sha256 ${deb.sha256.slice(0, 12)}…`,
          `${deb.package} ${deb.version} has sha256 ${deb.sha256}, pinned is ${deb.expectedSha256}`,
        ),
      ),
    ];
  },
};
