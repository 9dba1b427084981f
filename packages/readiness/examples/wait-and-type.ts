/**
 * Waits until the desktop on an X server is usable, types a command into its terminal, waits until the
 * typed letters are seen in the pixels, and draws both screens on one sheet.
 */
import { once } from "node:events";
import net from "node:net";
import {
  changedRegion,
  connectX,
  contactSheet,
  defaultRules,
  encodePng,
  gatherFacts,
  readXwd,
  typeText,
  waitUntilReady,
} from "@drums/readiness";

export async function waitAndType(socketPath: string, frameFile: string, command: string) {
  const socket = net.connect(socketPath);
  await once(socket, "connect");
  const x = await connectX(socket);
  const frame = () => readXwd(frameFile);
  const { verdict, facts } = await waitUntilReady({
    frame,
    facts: () => gatherFacts(x),
    rules: defaultRules({ window: { class: /^XTerm$/ } }),
    timeoutMs: 20_000,
  });
  const terminal = facts?.windows.find((window) => window.class === "XTerm");
  if (!verdict.ready || terminal === undefined) throw new Error(`${verdict.name}: ${verdict.remedy}`);

  const before = await frame();
  await typeText(x, command, { window: terminal.id });
  let after = await frame();
  // A caret that blinks is 6 pixels wide here; the typed letters are wider together.
  while ((changedRegion(before, after)?.width ?? 0) < 12) after = await frame();
  x.close();
  const sheet = contactSheet([
    { frame: before, label: "before" },
    { frame: after, label: `after typing ${command.trim()}` },
  ]);
  return { verdict, sheet: await encodePng(sheet) };
}
