import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { PROFILES, shell, withSession } from "../support/session.js";

/** Asks init as a program of the session: AF_UNIX 1, SOCK_SEQPACKET 5. Prints the answer with dots for its NULs. */
const ASK = `
  socket(my $s, 1, 5, 0) or die "$!";
  connect($s, pack("S a108", 1, "/run/drums/init.sock")) or die "$!";
  syswrite($s, "7\\0traceable\\x001\\0");
  sysread($s, my $answer, 100);
  $answer =~ tr/\\0/./;
  print $answer;
`;

describe.each(PROFILES)("the init of a %s session", (profile) => {
  testNeeding(["root"], "may be looked into by the session's root only while the host says so", async () => {
    await withSession(profile, async ({ init }) => {
      const look = () => shell(init, "cat /proc/1/environ >/dev/null && ls /proc/1/ns/net");
      expect((await look()).stderr).toContain("Permission denied");
      await init.setTraceable(true);
      expect(await look()).toMatchObject({ code: 0, stdout: "/proc/1/ns/net\n" });
      await init.setTraceable(false);
      expect((await look()).stderr).toContain("Permission denied");
    });
  });

  testNeeding(["root"], "does not take that from a program of the session", async () => {
    await withSession(profile, async ({ init }) => {
      const EPERM = 1;
      expect((await shell(init, `perl -e '${ASK}'`)).stdout).toBe(`7.err.traceable.${EPERM}.`);
      expect((await shell(init, "ls /proc/1/ns/net")).stdout).toBe("");
    });
  });
});
