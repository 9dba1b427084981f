import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { auditSettled } from "../../src/index.js";
import { CRIU_NEEDS } from "../helpers/criu.js";
import { launchDesk, withInit } from "../helpers/desk.js";

testNeeding(CRIU_NEEDS, "a connection that was just closed does not refuse a dump", async () => {
  const desk = await launchDesk("hardened");
  try {
    for (let turn = 0; turn < 20; turn++) {
      await withInit(desk.initPid, (init) => init.ping());
      const { verdict } = await auditSettled({ initPid: desk.initPid, externals: desk.externals });
      expect(verdict).toBe("pass");
    }
  } finally {
    await desk.end();
  }
});

testNeeding(CRIU_NEEDS, "one that stays open refuses it all the same, once the wait is over", async () => {
  const desk = await launchDesk("hardened");
  try {
    await withInit(desk.initPid, async (init) => {
      await init.ping();
      const audit = await auditSettled({ initPid: desk.initPid, externals: desk.externals, settleMs: 500 });
      expect(audit.findings.map(({ rule }) => rule)).toContain("socket-foreign");
      expect(audit.verdict).toBe("refuse");
      expect(audit.looks).toBeGreaterThan(1);
    });
  } finally {
    await desk.end();
  }
});
