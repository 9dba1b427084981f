import { afterEach, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { auditSession, RULES } from "../../src/index.js";
import { launchTiny, type TinySession, until } from "../helpers/session.js";

let session: TinySession | undefined;
afterEach(async () => {
  await session?.end();
  session = undefined;
});

async function launch(script?: string, more?: string): Promise<TinySession> {
  session = await launchTiny(script, more);
  await until("the count", async () => Number(await session?.read("count")) > 1 || undefined);
  return session;
}

testNeeding(["root", "program:ip"], "a real session that CRIU takes passes", async () => {
  const { pid } = await launch();
  const audit = await auditSession({ initPid: pid });
  expect(audit).toMatchObject({ verdict: "pass", findings: [] });
  expect(audit.facts.processes[0]).toEqual({ pid, innerPid: 1, name: "sh" });
});

testNeeding(
  ["root", "program:ip"],
  "real mounts that CRIU refuses are found, in the mount table alone too",
  async () => {
    const { pid } = await launch(
      undefined,
      "mkdir ROOT/a ROOT/b\nmount -t ramfs ramfs ROOT/a\nmount --bind /etc ROOT/b",
    );
    const rules = (findings: readonly { rule: string; object: string }[]) =>
      findings.map(({ rule, object }) => `${rule} ${object.split(" ")[0]}`);
    const expected = ["mount-unsupported /a", "mount-external /b"];
    expect(rules((await auditSession({ initPid: pid })).findings)).toEqual(expected);
    expect(rules((await auditSession({ initPid: pid, onlyMountTable: true })).findings)).toEqual(expected);
    const named = await auditSession({ initPid: pid, externals: [{ mountPoint: "/b" }] });
    expect(rules(named.findings)).toEqual(["mount-unsupported /a"]);
  },
);

testNeeding(["root", "program:ip"], "much data in a tmpfs is told as slow, and counted", async () => {
  const { pid } = await launch(undefined, "head -c 70000000 /dev/zero > ROOT/tmp/data");
  const audit = await auditSession({ initPid: pid });
  expect(audit.findings.map(({ rule, object }) => `${rule} ${object}`)).toEqual(["tmpfs-bytes /tmp: 67 MiB"]);
  expect(audit.verdict).toBe("pass");
  expect(audit.facts.tmpfsBytes).toBeGreaterThan(70_000_000);
});

test("every rule has a title and a remedy", () => {
  for (const rule of Object.values(RULES)) {
    expect(rule.title.length).toBeGreaterThan(10);
    expect(rule.remedy.length).toBeGreaterThan(10);
  }
});
