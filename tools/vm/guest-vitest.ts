import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";
import * as chai from "chai";

/**
 * What the guest's tests know as vitest: Node's own runner, which starts at once on a processor that QEMU computes,
 * with vitest's own `expect`.
 */
export { after as afterAll, afterEach, before as beforeAll, beforeEach, describe, test } from "node:test";

for (const plugin of [JestExtend, JestChaiExpect, JestAsymmetricMatchers]) chai.use(plugin);
export const expect = chai.expect;
