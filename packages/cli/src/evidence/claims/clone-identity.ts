import type { SiblingValue } from "../records.js";
import { type ClaimRule, eachSibling, expect, type Finding } from "./rule.js";

type Identity = SiblingValue<"identity.json">;

/** Each sibling can be told from every other session by its own programs. */
export const siblingIdentity: ClaimRule = {
  id: "sibling-identity",
  sentence: "Each sibling has a host name and a token of its own, and knows that it is a generation further.",
  steps: ["token", "sibling"],
  check: (records) => {
    const original = records.get("identity.json");
    return eachSibling(records, (sibling) => {
      const own = records.ofSibling(sibling, "identity.json");
      const siblings = records.siblings.filter((other) => other !== sibling);
      const others = new Map([
        ["the original", original],
        ...siblings.map((other) => [`sibling ${other}`, records.ofSibling(other, "identity.json")] as const),
      ]);
      return [
        expect(own.exitCode === 0, "read by a program of its own", `return code ${own.exitCode}`),
        distinct("host name", own, others),
        distinct("token", own, others),
        expect(
          Number(own.generation) === Number(original.generation) + 1,
          `generation ${own.generation}`,
          `generation ${own.generation}, the original's is ${original.generation}`,
        ),
      ];
    });
  },
};

function distinct(
  what: "host name" | "token",
  own: Identity,
  others: ReadonlyMap<string, Identity>,
): Finding {
  const key = what === "token" ? "token" : "hostname";
  const same = [...others].filter(([, other]) => other[key] === own[key]).map(([who]) => who);
  return expect(
    own[key] !== "" && same.length === 0,
    `${what} ${own[key]}`,
    `its ${what} ${JSON.stringify(own[key])} is that of ${same.join(", ") || "nobody"}`,
  );
}
