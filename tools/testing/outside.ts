import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { GREETER } from "./perl.js";

/** A net namespace of the test's own that stands for the host's side of a NAT. */
export interface Outside {
  /** An address there that is not its loopback's: what a session may reach. */
  readonly address: string;
  /** Starts a program there by exec, so that its pid stays the caller's child. */
  readonly command: readonly [string, ...string[]];
  /** Serves a greeting on an address there; gives the port. */
  greet(address: string, greeting: string): Promise<number>;
}

/** From the block for documentation (RFC 5737): no machine has it. */
const ADDRESS = "198.51.100.1";

/** Gives the body a net namespace with lo and one more address, and takes it down. Needs root, unshare, nsenter, ip. */
export async function withOutside(body: (outside: Outside) => Promise<void>): Promise<void> {
  const setup = `ip link set lo up && ip addr add ${ADDRESS}/32 dev lo && echo up && exec sleep 600`;
  const holder = spawn("unshare", ["--net", "sh", "-c", setup], { stdio: ["ignore", "pipe", "inherit"] });
  const servers: ChildProcess[] = [];
  try {
    await lineOf(holder);
    const command = ["nsenter", `--net=/proc/${holder.pid}/ns/net`] as const;
    const greet = async (address: string, greeting: string) => {
      const [file, ...args] = [...command, "perl", "-e", GREETER, address, greeting] as const;
      const server = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
      servers.push(server);
      return Number(await lineOf(server));
    };
    await body({ address: ADDRESS, command, greet });
  } finally {
    for (const child of [...servers, holder]) await end(child);
  }
}

async function lineOf(child: ChildProcess): Promise<string> {
  let text = "";
  while (!text.includes("\n")) {
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`a helper program ended with ${code}`);
    });
    const data = child.stdout ? once(child.stdout, "data").then(([chunk]) => String(chunk)) : ended;
    text += await Promise.race([data, ended]);
  }
  return text.trim();
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
