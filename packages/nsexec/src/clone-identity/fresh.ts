import { randomBytes } from "node:crypto";
import type { InitClient } from "../init-client/index.js";
import { runScript } from "./run.js";

/** What {@link freshenMachine} made anew. */
export interface FreshMachine {
  /** machine-id(5): 32 hexadecimal digits. */
  readonly machineId: string;
  /** Whether D-Bus keeps an id of its own (then it was written), has a link to /etc/machine-id, or has none. */
  readonly dbusMachineId: "written" | "link" | "absent";
  /** Paths of the ssh host keys that were there and were made again, of the same types. */
  readonly sshHostKeys: readonly string[];
}

/** One line a finding: `dbus KIND`, `key PATH`. */
const SCRIPT = `
put /etc/machine-id "$1" 444
dbus=/var/lib/dbus/machine-id
if [ -L "$dbus" ]; then echo dbus link
elif [ -e "$dbus" ]; then put "$dbus" "$1" 444; echo dbus written
else echo dbus absent; fi
for key in /etc/ssh/ssh_host_*_key; do
  [ -f "$key" ] || continue
  type=\${key#/etc/ssh/ssh_host_}
  rm -f "$key.new" "$key.new.pub"
  ssh-keygen -q -t "\${type%_key}" -N "" -C "" -f "$key.new"
  mv -f "$key.new" "$key"
  mv -f "$key.new.pub" "$key.pub"
  echo "key $key"
done
`;

/**
 * Gives a session the ids that a machine of its own would have: a machine-id, D-Bus's where it keeps one, and new ssh
 * host keys of the types that are there. Running programs keep what they have read (docs of clone identity).
 * @throws NsexecError code IDENTITY_FAILED, such as for keys in a session without ssh-keygen
 */
export async function freshenMachine(init: InitClient): Promise<FreshMachine> {
  // machine-id(5) asks for a random id in the form of a version 4 UUID.
  const bytes = randomBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const machineId = bytes.toString("hex");
  const said = await runScript(init, {
    what: "a machine id of its own",
    script: SCRIPT,
    args: [`${machineId}\n`],
  });
  return { machineId, ...parseFindings(said) };
}

/** What the script told; it runs in the session, so nothing but the known lines counts. */
export function parseFindings(text: string): Omit<FreshMachine, "machineId"> {
  const lines = text.split("\n");
  const dbus = (["written", "link"] as const).find((kind) => lines.includes(`dbus ${kind}`));
  const keys = lines.map((line) => /^key (\/etc\/ssh\/ssh_host_\w+_key)$/.exec(line)?.[1]);
  return { dbusMachineId: dbus ?? "absent", sshHostKeys: keys.filter((key) => key !== undefined) };
}
