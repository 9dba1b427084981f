import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { release, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { type Need, testNeeding } from "../../../../tools/testing/needs.js";
import { type Outside, withOutside } from "../../../../tools/testing/outside.js";
import { CLIENT, FLOOD, GREETER } from "../../../../tools/testing/perl.js";
import {
  attachNat,
  endNat,
  findNat,
  type InitClient,
  listForwards,
  type Nat,
  type NatOptions,
  natEndsByItself,
  readLimits,
  readNamespaces,
  readStatus,
  sys,
} from "../../src/index.js";
import { ENV, type LiveSession, PROFILES, withSession } from "../support/session.js";

const NEEDS: readonly Need[] = ["root", "program:slirp4netns", "program:nsenter", "file:/dev/net/tun"];
const run = promisify(execFile);

/** Attaches a NAT to a session in a folder of the test's own, and takes down what is left of it. */
async function withNat(
  { session }: Pick<LiveSession, "session">,
  options: Omit<NatOptions, "folder">,
  body: (nat: Nat, folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "drums-nat-"));
  try {
    const nat = await attachNat(
      { pid: session.initPid, startTime: session.startTime },
      { folder, ...options },
    );
    try {
      await body(nat, folder);
    } finally {
      await endNat(nat);
    }
    expect(findNat(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Starts slirp4netns where `outside` is. */
function leavingBy({ command }: Outside): Pick<NatOptions, "command"> {
  return { command: [...command, "slirp4netns"] };
}

/** What a client in the session hears at an address. */
async function hear(init: InitClient, address: string, port: number): Promise<string> {
  const { stdout } = await init.run({ argv: ["perl", "-e", CLIENT, address, String(port)], env: ENV });
  return stdout.toString().trim();
}

async function hearOnHost(address: string, port: number): Promise<string> {
  const { stdout } = await run("perl", ["-e", CLIENT, address, String(port)]).catch((error) => error);
  return String(stdout).trim();
}

/** Starts a server in the session and waits until it has its port. */
async function serveInside({ init, root }: LiveSession, greeting: string, port: number): Promise<void> {
  const log = "/run/server.log";
  await init.spawn({
    argv: ["perl", "-e", GREETER, "0.0.0.0", greeting, String(port)],
    env: ENV,
    stdout: log,
  });
  while ((await root.readFile(log)).toString() !== `${port}\n`) await sleep(5);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

describe.each(PROFILES)("a NAT of a %s session", (profile) => {
  testNeeding(NEEDS, "leads out, from the address that every session has", async () => {
    await withOutside(async (outside) => {
      const port = await outside.greet(outside.address, "from outside");
      await withSession(profile, async (live) => {
        expect(await hear(live.init, outside.address, port)).toBe("Network is unreachable");
        await withNat(live, leavingBy(outside), async () => {
          expect(await hear(live.init, outside.address, port)).toBe("from outside");
          const { stdout } = await run("nsenter", [
            ...[`--net=/proc/${live.session.initPid}/ns/net`, "ip", "-4", "-o", "addr", "show", "tap0"],
          ]);
          expect(stdout).toContain(" 10.0.2.100/24 ");
        });
        expect(await hear(live.init, outside.address, port)).toBe("Network is unreachable");
      });
    });
  });

  testNeeding(NEEDS, "reaches no listener on the host's loopback", async () => {
    const server = createServer((socket) => socket.end("the host\n")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    try {
      expect(await hearOnHost("127.0.0.1", port)).toBe("the host");
      await withSession(profile, async (live) => {
        await withNat(live, {}, async () => {
          for (const address of ["10.0.2.2", "10.0.2.3", "10.0.2.100", "127.0.0.1", "127.0.0.2", "0.0.0.0"])
            expect(await hear(live.init, address, port), address).toMatch(
              /^(no answer|closed|Connection refused|Network is unreachable|Connection timed out)$/,
            );
        });
      });
    } finally {
      server.close();
    }
  });

  testNeeding(NEEDS, "publishes ports on the host's loopback alone", async () => {
    await withSession(profile, async (live) => {
      await serveInside(live, "from inside", 8080);
      await withNat(live, { publish: [{ guestPort: 8080 }] }, async ({ ports }, folder) => {
        const [published] = ports;
        expect(published?.guestPort).toBe(8080);
        const hostPort = published?.hostPort ?? 0;
        expect(await hearOnHost("127.0.0.1", hostPort)).toBe("from inside");
        expect(await listForwards(join(folder, "nat.sock"))).toEqual(ports);
        const hex = hostPort.toString(16).toUpperCase().padStart(4, "0");
        const listening = readFileSync("/proc/net/tcp", "utf8").match(
          new RegExp(`\\w{8}:${hex} 00000000:0000 0A`, "g"),
        );
        expect(listening).toEqual([`0100007F:${hex} 00000000:0000 0A`]);
      });
    });
  });

  testNeeding(
    NEEDS,
    "is confined: no capability but one, a filter, a mount namespace of its own",
    async () => {
      await withSession(profile, async (live) => {
        await withNat(live, {}, async ({ pid, confinement }) => {
          expect(confinement).toEqual(["sandbox", "seccomp"]);
          const CAP_NET_BIND_SERVICE = 1n << 10n;
          expect((await readStatus(pid)).capEff).toBe(CAP_NET_BIND_SERVICE);
          expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/^Seccomp:\t2$/m);
          const [its, ours] = await Promise.all([readNamespaces(pid), readNamespaces("self")]);
          expect(its.mnt).not.toEqual(ours.mnt);
          expect(its.net).toEqual(ours.net);
        });
      });
    },
  );

  testNeeding(
    NEEDS,
    "ends with its session where the kernel tells it, and by endNat everywhere",
    async () => {
      await withSession(profile, async (live) => {
        await withNat(live, {}, async ({ pid }, folder) => {
          expect(findNat(folder)).toEqual([pid]);
          const pidfd = sys.pidfdOpen(live.session.initPid);
          sys.pidfdSendSignal(pidfd, "SIGKILL");
          if (natEndsByItself(release())) await until(() => findNat(folder).length === 0);
          else expect(findNat(folder)).toEqual([pid]);
        });
      }).catch((error) => {
        // The session was ended by the test itself.
        if (error.code !== "ESRCH" && error.code !== "SESSION_GONE") throw error;
      });
    },
  );
});

testNeeding(NEEDS, "a port of the host that is taken is named, and nothing is left", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const folder = mkdtempSync(join(tmpdir(), "drums-nat-"));
  await withSession("hardened", async ({ session }) => {
    const attaching = attachNat(
      { pid: session.initPid },
      { folder, publish: [{ hostPort: port, guestPort: 80 }] },
    );
    await expect(attaching).rejects.toMatchObject({
      code: "PORT_TAKEN",
      message: expect.stringContaining(String(port)),
    });
    expect(findNat(folder)).toEqual([]);
  });
  server.close();
  rmSync(folder, { recursive: true });
});

testNeeding(NEEDS, "what cannot be is a named error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "drums-nat-"));
  await withSession("hardened", async ({ session: { initPid: pid, startTime } }) => {
    await expect(attachNat({ pid }, { folder, command: ["/no/such/program"] })).rejects.toMatchObject({
      code: "NAT_UNAVAILABLE",
      hint: expect.stringContaining("slirp4netns"),
    });
    const broken = ["/bin/sh", "-c", "echo open /dev/net/tun: No such device >&2; exit 1"] as const;
    await expect(attachNat({ pid }, { folder, command: broken })).rejects.toMatchObject({
      code: "NAT_FAILED",
      message: expect.stringContaining("No such device"),
      hint: expect.stringContaining("modprobe tun"),
    });
    const other = attachNat({ pid, startTime: startTime + 1n }, { folder });
    await expect(other).rejects.toMatchObject({ code: "PROCESS_GONE" });
    expect(findNat(folder)).toEqual([]);
  });
  rmSync(folder, { recursive: true });
});

testNeeding(NEEDS, "what it says fills no disk, and what is lost of it does not end it", async () => {
  await withOutside(async (outside) => {
    const port = await outside.greet(outside.address, "from outside");
    const loud = ["/bin/sh", "-c", 'yes loud | head -c 3000000 >&2; exec "$@"', "sh"] as const;
    const command = [...loud, ...outside.command, "slirp4netns"] as const;
    await withSession("hardened", async (live) => {
      await withNat(live, { command }, async ({ pid }, folder) => {
        expect(statSync(join(folder, "nat.log")).size).toBe(1 << 20);
        expect((await readLimits(pid)).get("Max file size")?.hard).toBe(BigInt(1 << 20));
        expect(await hear(live.init, outside.address, port)).toBe("from outside");
      });
    });
  });
});

testNeeding(
  NEEDS,
  "a flood of connections is held, and the network works again when it is over",
  async () => {
    await withOutside(async (outside) => {
      const port = await outside.greet(outside.address, "from outside");
      await withSession("hardened", async (live) => {
        await withNat(live, leavingBy(outside), async ({ pid }) => {
          const argv = ["perl", "-e", FLOOD, outside.address, String(port), "500"];
          const { stdout } = await live.init.run({ argv, env: ENV });
          const made = stdout.toString().trim().split("\n").map(Number);
          const sum = made.reduce((all, one) => all + one);
          expect(made).toHaveLength(3);
          expect(sum).toBeGreaterThan(500);
          expect(sum).toBeLessThan(1024);
          expect((await readLimits(pid)).get("Max open files")?.soft).toBe(1024n);
          expect(await hear(live.init, outside.address, port)).toBe("from outside");
        });
      });
    });
  },
  60000,
);

test.each([
  ["6.18.44", true],
  ["6.9.0-rc1", true],
  ["6.1.0-13-amd64", false],
  ["7.0", true],
  ["5.15.0", false],
])("on Linux %s a NAT ends by itself: %s", (kernel, ends) => {
  expect(natEndsByItself(kernel)).toBe(ends);
});

testNeeding(["root"], "to end one that has ended, or another's pid, does nothing", async () => {
  await withSession("compat", async ({ session, init }) => {
    await endNat({ pid: session.initPid, startTime: session.startTime + 1n });
    await init.ping();
  });
  await endNat({ pid: 2 ** 22 - 1, startTime: 1n });
});
