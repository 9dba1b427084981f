import { describe, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { PROFILES, shell, withSession } from "../support/session.js";

describe.each(PROFILES)("the init of a %s session", (profile) => {
  testNeeding(["root"], "puts a file in place with its mode, and another over it", async () => {
    await withSession(profile, async ({ init, root }) => {
      await init.put("/etc/motd", "first\n", { mode: 0o640 });
      await init.put("/etc/motd", "second\n");
      expect((await root.readFile("/etc/motd")).toString()).toBe("second\n");
      expect((await shell(init, "stat -c %a:%u /etc/motd; ls /etc/motd.new")).stdout).toBe("644:0\n");
    });
  });

  testNeeding(["root"], "writes through no link, and refuses what is no file", async () => {
    await withSession(profile, async ({ init, root }) => {
      await shell(
        init,
        "mkdir /tmp/t; ln -s /tmp/t/far /tmp/t/a.new; ln -s /tmp/t/far /tmp/t/a; mkfifo /tmp/t/b",
      );
      await init.put("/tmp/t/a", "text");
      expect((await root.readFile("/tmp/t/a")).toString()).toBe("text");
      expect(await root.list("/tmp/t")).toEqual(["a", "b"]);
      const refused = { code: "INIT_REFUSED", step: "put" };
      await expect(init.overwrite("/tmp/t/b", "x")).rejects.toMatchObject(refused);
      await expect(init.put("/tmp/t", "x")).rejects.toMatchObject(refused);
      expect(await root.list("/tmp")).not.toContain("t.new");
      await expect(init.put("no/path", "x")).rejects.toMatchObject({ step: "protocol" });
    });
  });
});
