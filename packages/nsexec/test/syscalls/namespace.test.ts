import { execFile } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { type NamespaceKind, readNamespaces, spawnNative, sys } from "../../src/index.js";

const run = promisify(execFile);

/** Runs the body with a descriptor of a namespace that a sleeping child was born in. */
async function withNamespace(
  kinds: readonly NamespaceKind[],
  kind: NamespaceKind,
  body: (fd: number, pid: number) => Promise<void>,
): Promise<void> {
  const child = spawnNative({ file: "/bin/sleep", argv: ["sleep", "600"], namespaces: kinds });
  const fd = openSync(`/proc/${child.pid}/ns/${kind}`, "r");
  try {
    await body(fd, child.pid);
  } finally {
    closeSync(fd);
    child.kill("SIGKILL");
    await child.exited;
  }
}

testNeeding(
  ["root", "program:nsenter"],
  "a host name is set in another uts namespace, and ours is not",
  async () => {
    const [name, namespaces] = [hostname(), await readNamespaces("self")];
    await withNamespace(["uts"], "uts", async (fd, pid) => {
      sys.setHostnameIn(fd, "elsewhere");
      const { stdout } = await run("nsenter", [
        `--uts=/proc/${pid}/ns/uts`,
        "cat",
        "/proc/sys/kernel/hostname",
      ]);
      expect(stdout).toBe("elsewhere\n");
      expect(() => sys.setHostnameIn(fd, "n".repeat(65))).toThrow(
        expect.objectContaining({ code: "EINVAL", syscall: "sethostname" }),
      );
    });
    expect(hostname()).toBe(name);
    expect(await readNamespaces("self")).toEqual(namespaces);
  },
);

for (const kinds of [["net"], ["user", "net"]] as const)
  testNeeding(["root"], `an interface is set up in another ${kinds.join(" and ")} namespace`, async () => {
    await withNamespace(kinds, "net", async (fd, pid) => {
      const ipv6 = () => readFileSync(`/proc/${pid}/net/if_inet6`, "utf8");
      expect(ipv6()).toBe("");
      sys.setLinkUpIn(fd, "lo");
      // The kernel gives lo its address when it comes up.
      expect(ipv6()).toMatch(/^0{31}1 .* lo$/m);
      expect(() => sys.setLinkUpIn(fd, "none0")).toThrow(
        expect.objectContaining({ code: "ENODEV", syscall: "ioctl SIOCGIFFLAGS" }),
      );
    });
  });

testNeeding(["root"], "a descriptor of another kind is refused by its name", async () => {
  await withNamespace(["net"], "net", async (fd) => {
    expect(() => sys.setHostnameIn(fd, "x")).toThrow(
      expect.objectContaining({ code: "EINVAL", syscall: "setns" }),
    );
  });
});
