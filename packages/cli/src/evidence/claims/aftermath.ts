import { EVENTS } from "../events.js";
import { lives, sameFile } from "./identity.js";
import { likeReference } from "./pixels.js";
import { type ClaimRule, expect } from "./rule.js";

/** A run that came to its end ended with these. */
const LAST_STEPS = ["original", "parity", "teardown"] as const;

/** The original goes on as if there were no siblings. */
export const originalUnharmed: ClaimRule = {
  id: "original-unharmed",
  sentence: "The original lives on unharmed: token, marker and screen as before, nothing typed into it.",
  steps: ["original"],
  check: (records) => {
    const after = records.get("original/after.json");
    const token = records.get("token.json").value;
    const marker = records.get("marker.json").content;
    const { content: before } = records.get("application.json");
    return [
      lives("the original", after.init),
      expect(
        after.token === token,
        "token as before",
        `token is ${JSON.stringify(after.token)}, was ${token}`,
      ),
      expect(after.marker === marker, "marker as before", "its marker is another"),
      expect(
        after.typedContent === before,
        before === null ? `no ${after.typedPath}` : `${after.typedPath} as before`,
        `${after.typedPath} holds ${JSON.stringify(after.typedContent)}`,
      ),
      ...likeReference(records.screen("original/screen.png"), records.screen("screens/reference.png")),
    ];
  },
};

const KINDS = ["mounts", "loops", "processes", "daemons", "sockets", "cgroups", "folders"] as const;

/** Everything that the run acquired is gone again. */
export const nothingLeft: ClaimRule = {
  id: "nothing-left",
  sentence:
    "Nothing is left: no mount, loop, process, daemon, socket, cgroup or folder; the host's bus is the same.",
  steps: ["teardown"],
  check: (records) => {
    const teardown = records.get("teardown.json");
    const { before } = records.get("bus.json").hostSocket;
    return [
      ...KINDS.map((kind) =>
        expect(teardown[kind].length === 0, `no ${kind}`, `${kind} left: ${teardown[kind].join(", ")}`),
      ),
      expect(
        sameFile(before, teardown.hostSocket),
        "the host's bus socket is the same",
        "the host's bus socket changed",
      ),
    ];
  },
};

/** No step failed or was cut off: what no other claim speaks of cannot hide here. */
export const allSteps: ClaimRule = {
  id: "all-steps",
  sentence: "Every step of the run ended well.",
  steps: [],
  check: ({ events, eventFaults }) => {
    const ends = events.filter((event) => event.event === "end");
    const open = events
      .filter((event) => event.event === "start" && !ends.some((end) => end.step === event.step))
      .map(({ step }) => step);
    const bad = ends.filter(({ outcome }) => outcome !== "ok");
    return [
      ...eventFaults.map((fault) => expect(false, "", fault)),
      expect(ends.length > 0, `${ends.length} steps`, `${EVENTS} tells of no step`),
      ...LAST_STEPS.filter((step) => !ends.some((end) => end.step === step)).map((step) =>
        expect(false, "", `the run ended before step ${step}`),
      ),
      ...open.map((step) => expect(false, "", `step ${step} has no end`)),
      ...bad.map(({ step, outcome, error }) =>
        expect(false, "", `step ${step} ${outcome}: ${error?.message ?? "no reason"}`),
      ),
    ];
  },
};
