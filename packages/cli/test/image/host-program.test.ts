import { expect, test } from "vitest";
import { runHostProgram } from "../../src/image/host-program.js";

test("a program's output comes back, and its stderr line by line", async () => {
  const lines: string[] = [];
  const argv = ["sh", "-c", "echo out; echo one >&2; echo two >&2"] as const;
  const { stdout } = await runHostProgram(argv, { onLine: (line) => lines.push(line) });
  expect([stdout, lines]).toEqual(["out", ["one", "two"]]);
});

test("a failure says the status and the last lines that the program wrote", async () => {
  const argv = ["sh", "-c", "seq 40 >&2; echo disk is full >&2; exit 7"] as const;
  await expect(runHostProgram(argv)).rejects.toMatchObject({
    code: "PROGRAM_FAILED",
    what: "sh failed with status 7",
    why: expect.stringMatching(/^30\n.*disk is full$/s),
  });
});

test("a program that is not there is a blocker, whether its lines are read or not", async () => {
  for (const options of [{}, { onLine: () => {} }])
    await expect(runHostProgram(["drums-no-such-program"], options)).rejects.toMatchObject({
      code: "PROGRAM_MISSING",
      exitCode: 3,
    });
});

test("an abort ends the program and says that it was one", async () => {
  const controller = new AbortController();
  const argv = ["sh", "-c", "echo started >&2; exec sleep 600"] as const;
  const running = runHostProgram(argv, { signal: controller.signal, onLine: () => controller.abort() });
  await expect(running).rejects.toMatchObject({ code: "INTERRUPTED" });
});
