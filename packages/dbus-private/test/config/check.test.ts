import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { flattenConfig } from "../../src/index.js";
import { startDaemon, withFolder } from "../support.js";

const policy = (content: string, selector = 'context="default"') => `<policy ${selector}>${content}</policy>`;

const ACCEPTED = [
  '<limit name="reply_timeout">1000</limit>',
  '<limit name="max_containers">5</limit>',
  policy('<allow send_destination="a.b" send_interface="*" send_type="method_call" max_fds="0"/>'),
  policy('<allow eavesdrop="true"/>'),
  policy('<allow own="*"/>', 'user="root"'),
  policy('<allow own_prefix="a.b"/>', 'group="root"'),
  policy('<allow own="a.b"/>', 'at_console="true"'),
  policy('<allow own="a.b"/>', 'user="no-such-user"'),
  policy('<deny user="*"/>', 'context="mandatory"'),
  policy('<allow send_destination_prefix="a.b" send_broadcast="false"/>'),
  policy('<allow receive_sender="a.b" receive_requested_reply="true" eavesdrop="false"/>'),
  policy(""),
  "<allow_anonymous/>",
  '<selinux><associate own="a.b" context="c"/></selinux>',
  '<include ignore_missing="yes">gone</include>',
];

const REFUSED = [
  "<bogus/>",
  "text",
  '<limit name="bogus">3</limit>',
  "<limit>3</limit>",
  '<limit name="auth_timeout">x</limit>',
  '<limit name="auth_timeout"></limit>',
  '<limit name="auth_timeout">-1</limit>',
  '<limit name="auth_timeout" more="1">1</limit>',
  "<policy/>",
  policy("", 'context="other"'),
  policy("", 'context="default" user="root"'),
  policy("", 'at_console="maybe"'),
  policy("text"),
  policy("<bogus/>"),
  policy("<allow/>"),
  policy('<allow bogus="1"/>'),
  policy('<allow own="a.b" user="root"/>'),
  policy('<allow own="a.b" send_destination="a.c"/>'),
  policy('<allow send_destination="a.b" receive_sender="a.b"/>'),
  policy('<allow send_destination="a.b" send_destination_prefix="a.b"/>'),
  policy('<allow send_destination="a.b" send_type="bogus"/>'),
  policy('<allow send_destination="a.b" eavesdrop="maybe"/>'),
  policy('<allow send_destination="a.b" max_fds="x"/>'),
  policy('<allow user="*"><deny/></allow>'),
  '<include ignore_missing="maybe">q</include>',
  '<apparmor mode="bogus"/>',
  '<selinux><associate own="a.b"/></selinux>',
];

/** Whether a real dbus-daemon starts on it: it prints its address once it listens, or ends. */
function daemonAccepts(content: string): Promise<boolean> {
  return withFolder(async (folder) => {
    const file = join(folder, "bus.conf");
    writeFileSync(
      file,
      `<busconfig><listen>unix:path=${folder}/bus</listen><auth>EXTERNAL</auth>${content}</busconfig>`,
    );
    const daemon = await startDaemon(file, ["--print-address"]);
    const exited = once(daemon, "exit").then(() => false);
    const listening = new Promise<boolean>((resolve) => daemon.stdout?.once("data", () => resolve(true)));
    try {
      return await Promise.race([exited, listening]);
    } finally {
      daemon.kill("SIGKILL");
      await exited;
    }
  });
}

async function weAccept(content: string): Promise<boolean> {
  const text = `<busconfig>${content}</busconfig>`;
  const source = {
    path: "/x.conf",
    readFile: async (path: string) => (path === "/x.conf" ? text : undefined),
    listDir: async () => [],
  };
  return flattenConfig(source).then(
    () => true,
    () => false,
  );
}

test.each(ACCEPTED)("accepted: %s", async (content) => {
  expect(await weAccept(content)).toBe(true);
});

test.each(REFUSED)("refused: %s", async (content) => {
  expect(await weAccept(content)).toBe(false);
});

testNeeding(["program:dbus-daemon"], "a real dbus-daemon accepts and refuses the same", async () => {
  const differing: string[] = [];
  for (const content of ACCEPTED)
    if (!(await daemonAccepts(content))) differing.push(`daemon refuses ${content}`);
  for (const content of REFUSED)
    if (await daemonAccepts(content)) differing.push(`daemon accepts ${content}`);
  expect(differing).toEqual([]);
});
