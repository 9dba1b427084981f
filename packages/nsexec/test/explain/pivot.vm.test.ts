import { expect, test } from "vitest";
import { makeStage } from "../support/session.js";
import { launchAmong } from "../support/surroundings.js";

/**
 * Leaves the kernel's first filesystem as the root: the mounted one is detached, whoever then joins this mount namespace
 * stands on what lies below it, and a copy of all that was mounted is put there under /n.
 */
const ONTO_ROOTFS = `
open my $namespace, "<", "/proc/self/ns/mnt" or die $!;
my $tree = syscall(428, -100, my $root = "/", 0x8001);
syscall(166, $root, 2) == 0 or die "umount: $!";
syscall(308, fileno($namespace), 0) == 0 or die "setns: $!";
mkdir "/n" or die $!;
syscall(429, $tree, my $empty = "", -100, my $place = "/n", 4) == 0 or die "move_mount: $!";
for (glob "/n/*") { my ($name) = m{([^/]+)$}; rename "/$name", "/$name.first"; symlink "n/$name", "/$name" or die $! }
exec @ARGV or die $!;`;

test("an initramfs as the root, which cannot be pivoted, is named", async () => {
  const stage = makeStage("compat");
  try {
    const said = await launchAmong(`exec perl -e '${ONTO_ROOTFS}' "$@"`, stage.options);
    expect(said).toMatchObject({
      code: "LAUNCH_FAILED",
      step: "pivot",
      reason: "PIVOT_ON_ROOTFS",
      hint: expect.stringContaining("switch_root"),
    });
  } finally {
    stage.remove();
  }
});
