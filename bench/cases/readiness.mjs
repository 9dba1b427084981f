import { defaultRules, gatherFacts, judge } from "../../packages/readiness/dist/index.js";
import { measure, report } from "../measure.mjs";

/** What one look of the wait for readiness costs: a frame, the window facts, and the verdict on both. */
export default async function readiness(context) {
  const { live } = await context.session();
  const times = await live.withX((x) =>
    measure(
      {
        look: async () => {
          const [frame, facts] = await Promise.all([live.frame(), gatherFacts(x)]);
          judge({ frames: [frame, frame], facts, rules: defaultRules() });
        },
        facts: () => gatherFacts(x),
        frame: () => live.frame(),
      },
      { iterations: 50 },
    ),
  );
  const against = { peer: times.frame, peerName: "the frame alone" };
  return [
    report({ name: "one look for readiness", own: times.look, ...against, goal: "at most 50 ms" }),
    report({ name: "window facts over X11", own: times.facts, ...against, goal: "none" }),
  ];
}
