import { constants } from "node:os";
import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { type InitClient, SYSCALLS } from "../../src/index.js";
import { ENV, PROFILES, withSession } from "../support/session.js";

const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno;
const CLONE_NEWUSER = 0x1000_0000;

/** Calls with arguments that a kernel without the filter would answer with something else. */
const ATTEMPTS: Array<[call: string, args: number[], errno: number]> = [
  ["unshare", [CLONE_NEWUSER], EPERM],
  ["clone", [CLONE_NEWUSER, 0, 0, 0, 0], EPERM],
  ["clone3", [0, 0], ENOSYS],
  ["setns", [-1, 0], EPERM],
  ["mount", [0, 0, 0, 0, 0], EPERM],
  ["umount2", [0, 0], EPERM],
  ["pivot_root", [0, 0], EPERM],
  ["open_tree", [-1, 0, 0], EPERM],
  ["fsopen", [0, 0], EPERM],
  ["mount_setattr", [-1, 0, 0, 0, 0], EPERM],
  ["statmount", [0, 0, 0, 0], EPERM],
  ["io_uring_setup", [0, 0], ENOSYS],
  ["userfaultfd", [-1], EPERM],
  ["bpf", [-1, 0, 0], EPERM],
  ["perf_event_open", [0, 0, 0, 0, 0], EPERM],
  ["keyctl", [-1, 0, 0, 0, 0], EPERM],
  ["open_by_handle_at", [-1, 0, 0], EPERM],
  ["kexec_load", [0, 0, 0, -1], EPERM],
  ["finit_module", [-1, 0, 0], EPERM],
  ["reboot", [0, 0, 0, 0], EPERM],
  ["ioctl", [0, 0x5412, 0], EPERM],
  ["socket", [38, 5, 0], EAFNOSUPPORT],
  ["socket", [40, 1, 0], EAFNOSUPPORT],
];

/** perl is in every Debian, and calls the kernel without a module. */
async function attempt(init: InitClient, call: string, args: readonly number[]): Promise<number> {
  const list = [SYSCALLS.get(call), ...args].join(", ");
  const program = `my $r = syscall(${list}); print $r < 0 ? $!+0 : "done $r";`;
  const { stdout } = await init.run({ argv: ["perl", "-e", program], env: ENV });
  return Number(stdout.toString());
}

describe.each(PROFILES)("root in a %s session", (profile) => {
  testNeeding(["root", "program:perl"], "gets the filter's errno from the kernel itself", async () => {
    await withSession(profile, async ({ init }) => {
      for (const [call, args, errno] of ATTEMPTS)
        expect(await attempt(init, call, args), `${call}(${args})`).toBe(errno);
    });
  });

  testNeeding(["root", "program:perl"], "keeps what a desktop needs", async () => {
    await withSession(profile, async ({ init }) => {
      const program =
        'my $p = fork; exit 3 if !$p; waitpid $p, 0; print $? >> 8, syscall(41, 1, 1, 0) >= 0 ? "ok" : "no";';
      const { stdout } = await init.run({ argv: ["perl", "-e", program], env: ENV });
      expect(stdout.toString()).toBe("3ok");
    });
  });
});
