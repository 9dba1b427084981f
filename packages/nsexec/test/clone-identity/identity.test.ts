import { spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  type CloneIdentity,
  freshenMachine,
  IDENTITY_FILES,
  runOnFork,
  setHostname,
  writeIdentity,
} from "../../src/index.js";
import { ENV, PROFILES, shell, withSession } from "../support/session.js";

const IDENTITY: CloneIdentity = {
  session: "openbox-00000001",
  hostname: "openbox-00000001",
  generation: 1,
  token: "0123456789abcdef0123456789abcdef",
  checkpoint: "c1",
  parent: "openbox-00000000",
};

/** Prints the number of the generation whenever the file is read again through one descriptor, once a line on stdin. */
const WATCHER = `
  open(my $file, "<", "${IDENTITY_FILES.generation}") or die "$!";
  $| = 1;
  for (1 .. 500) { seek($file, 0, 0); my $now = <$file>; print $now if $now ne $last; $last = $now; select(undef, undef, undef, 0.02) }
`;

/** Prints the first character of a file through a mapping of it, and again after a line on stdin. */
const MAPPER = `
import mmap, sys
with open(sys.argv[1], "rb") as file:
    seen = mmap.mmap(file.fileno(), 1, mmap.MAP_SHARED, mmap.PROT_READ)
    print(chr(seen[0]), flush=True)
    sys.stdin.readline()
    print(chr(seen[0]), flush=True)
`;

describe.each(PROFILES)("in a %s session", (profile) => {
  testNeeding(["root"], "programs read who they are, by any uid", async () => {
    await withSession(profile, async ({ session, init, root }) => {
      await setHostname({ pid: session.initPid, startTime: session.startTime }, IDENTITY.hostname);
      await writeIdentity({ init, root }, IDENTITY);
      const line = `cat /proc/sys/kernel/hostname /etc/hostname ${IDENTITY_FILES.token} ${IDENTITY_FILES.generation}`;
      expect((await shell(init, line, { uid: 1000 })).stdout).toBe(
        `${IDENTITY.hostname}\n${IDENTITY.hostname}\n${IDENTITY.token}\n1\n`,
      );
      const hosts = (await root.readFile("/etc/hosts")).toString();
      expect(hosts).toContain(`127.0.1.1\t${IDENTITY.hostname}\n`);
      expect(hosts).not.toContain("stage");
      const json = JSON.parse((await root.readFile(IDENTITY_FILES.identity)).toString());
      expect(json).toEqual({ version: 1, ...IDENTITY });
      const denied = await shell(init, `echo x >${IDENTITY_FILES.generation}`, { uid: 1000 });
      expect(denied.code).not.toBe(0);
    });
  });

  testNeeding(
    ["root"],
    "an open descriptor of the generation sees it change, by all its digits",
    async () => {
      await withSession(profile, async ({ init, root }) => {
        await writeIdentity({ init, root }, { ...IDENTITY, generation: 9 });
        await init.spawn({ argv: ["perl", "-e", WATCHER], env: ENV, uid: 1000, stdout: "/run/seen" });
        const seen = async () => (await root.readFile("/run/seen")).toString();
        while ((await seen()) !== "9\n") await sleep(5);
        await writeIdentity({ init, root }, { ...IDENTITY, generation: 10 });
        while (!(await seen()).includes("10\n")) await sleep(5);
        expect(await seen()).toBe("9\n10\n");
      });
    },
  );
});

testNeeding(
  ["root", "program:python3"],
  "a mapping and a watch of the generation see it change",
  async () => {
    await withSession("hardened", async ({ session, init, root }) => {
      await writeIdentity({ init, root }, IDENTITY);
      const path = `/proc/${session.initPid}/root${IDENTITY_FILES.generation}`;
      const mapper = spawn("python3", ["-c", MAPPER, path], { stdio: ["pipe", "pipe", "inherit"] });
      const says = createInterface({ input: mapper.stdout })[Symbol.asyncIterator]();
      const watcher = watch(path);
      try {
        expect((await says.next()).value).toBe("1");
        const changed = once(watcher, "change");
        await writeIdentity({ init, root }, { ...IDENTITY, generation: 2 });
        expect((await changed)[0]).toBe("change");
        mapper.stdin.end("again\n");
        expect((await says.next()).value).toBe("2");
      } finally {
        watcher.close();
        mapper.kill();
      }
    });
  },
);

testNeeding(["root"], "a host name that the kernel refuses is a named error", async () => {
  await withSession("hardened", async ({ session: { initPid: pid, startTime } }) => {
    await expect(setHostname({ pid }, "n".repeat(65))).rejects.toMatchObject({ code: "HOSTNAME_FAILED" });
    const other = setHostname({ pid, startTime: startTime + 1n }, "name");
    await expect(other).rejects.toMatchObject({ code: "PROCESS_GONE" });
  });
});

testNeeding(["root"], "links that the session laid lead no write astray", async () => {
  await withSession("hardened", async ({ init, root }) => {
    const links =
      "ln -s /proc/1/root/home/a /etc/hosts; ln -s /home/b /etc/hostname; ln -s /home/c /run/drums/token";
    await shell(init, `rm -f /etc/hosts /etc/hostname; ${links}`);
    await writeIdentity({ init, root }, IDENTITY);
    expect((await root.readFile("/etc/hostname")).toString()).toBe(`${IDENTITY.hostname}\n`);
    expect((await root.readFile("/etc/hosts")).toString()).toContain(IDENTITY.hostname);
    expect((await root.readFile("/run/drums/token")).toString()).toBe(`${IDENTITY.token}\n`);
    expect(await root.list("/home")).toEqual([]);
  });
});

describe("a machine's own ids", () => {
  testNeeding(["root"], "a machine-id is written, and D-Bus's where it is a file of its own", async () => {
    await withSession("hardened", async ({ init, root }) => {
      const none = await freshenMachine(init);
      expect(none).toMatchObject({ dbusMachineId: "absent", sshHostKeys: [] });
      await shell(init, "mkdir -p /var/lib/dbus; ln -s /etc/machine-id /var/lib/dbus/machine-id");
      expect((await freshenMachine(init)).dbusMachineId).toBe("link");
      await shell(init, "rm /var/lib/dbus/machine-id; echo old >/var/lib/dbus/machine-id");
      const { machineId, dbusMachineId } = await freshenMachine(init);
      expect(dbusMachineId).toBe("written");
      expect(machineId).toMatch(/^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
      expect(machineId).not.toBe(none.machineId);
      for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"])
        expect((await root.readFile(path)).toString()).toBe(`${machineId}\n`);
    });
  });

  testNeeding(
    ["root", "program:ssh-keygen"],
    "ssh host keys are made again, of the types that are there",
    async () => {
      await withSession("hardened", async ({ init, root }) => {
        await shell(init, "echo root:x:0:0::/:/bin/sh >/etc/passwd; mkdir -p /etc/ssh");
        const path = "/etc/ssh/ssh_host_ed25519_key";
        await shell(init, `ssh-keygen -q -t ed25519 -N "" -C "" -f ${path}`);
        const before = (await root.readFile(`${path}.pub`)).toString();
        expect((await freshenMachine(init)).sshHostKeys).toEqual([path]);
        const after = (await root.readFile(`${path}.pub`)).toString();
        expect(after).toMatch(/^ssh-ed25519 /);
        expect(after).not.toBe(before);
        expect((await root.stat(path)).mode).toBe(0o600);
        const derived = await shell(init, `ssh-keygen -y -f ${path}`);
        expect(derived.stdout.trim()).toBe(after.trim());
      });
    },
  );

  testNeeding(["root"], "keys that cannot be made again are a named error", async () => {
    await withSession("hardened", async ({ init }) => {
      await shell(init, "rm -f /usr/bin/ssh-keygen; mkdir -p /etc/ssh; echo old >/etc/ssh/ssh_host_rsa_key");
      await expect(freshenMachine(init)).rejects.toMatchObject({
        code: "IDENTITY_FAILED",
        message: expect.stringContaining("ssh-keygen"),
      });
    });
  });
});

describe("a program that is run on a fork", () => {
  testNeeding(["root"], "runs as whom it is told, and knows where it is", async () => {
    await withSession("hardened", async ({ init, root }) => {
      const script =
        '#!/bin/sh\necho "$(id -u) $DRUMS_SESSION $DRUMS_GENERATION $DRUMS_CHECKPOINT $DRUMS_PARENT" >/tmp/who\n';
      await shell(init, `printf %s '${script}' >/usr/bin/on-fork; chmod 755 /usr/bin/on-fork`);
      await runOnFork(init, IDENTITY, { path: "/usr/bin/on-fork", uid: 1000 });
      expect((await root.readFile("/tmp/who")).toString()).toBe(
        "1000 openbox-00000001 1 c1 openbox-00000000\n",
      );
    });
  });

  testNeeding(["root"], "one that fails, hangs or is not there is named with what it said", async () => {
    await withSession("hardened", async ({ init }) => {
      await shell(
        init,
        "printf '#!/bin/sh\\necho no seed left >&2; exit 3\\n' >/usr/bin/bad; chmod 755 /usr/bin/bad",
      );
      await expect(runOnFork(init, IDENTITY, { path: "/usr/bin/bad" })).rejects.toMatchObject({
        code: "ON_FORK_FAILED",
        message: expect.stringMatching(/\/usr\/bin\/bad .*status 3.*no seed left/),
      });
      await shell(init, "printf '#!/bin/sh\\nsleep 100\\n' >/usr/bin/slow; chmod 755 /usr/bin/slow");
      await expect(
        runOnFork(init, IDENTITY, { path: "/usr/bin/slow", timeoutMs: 200 }),
      ).rejects.toMatchObject({
        code: "ON_FORK_FAILED",
        cause: { code: "TIMEOUT" },
      });
      await expect(runOnFork(init, IDENTITY, { path: "/usr/bin/none" })).rejects.toMatchObject({
        code: "ON_FORK_FAILED",
        message: expect.stringContaining("ENOENT"),
      });
    });
  });
});
