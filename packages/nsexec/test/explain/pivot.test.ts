import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { explainPivotRoot, parseMountinfo } from "../../src/index.js";

/** pivot_root(2) on x86-64: number 155. Prints the errno, then the mounts as the caller sees them. */
const PIVOT = `
my ($new, $old) = @ARGV;
my $failed = syscall(155, $new, $old) != 0;
printf "%d\\n", $failed ? $! : 0;
open my $mounts, "<", "/proc/self/mountinfo" or die $!;
print while <$mounts>;`;

/** How each refusal is set up in a mount namespace of its own; $T is an empty folder. */
const CASES: Array<[name: string, reason: string, lines: string, newRoot: string, putOld: string]> = [
  [
    "a folder that is no mount",
    "PIVOT_NOT_A_MOUNT",
    "mkdir a; mount -t tmpfs a a; mkdir -p a/new/old",
    "a/new",
    "a/new/old",
  ],
  [
    "a parent that is shared",
    "PIVOT_SHARED",
    "mkdir new; mount -t tmpfs new new; mkdir new/old; mount --make-rshared /",
    "new",
    "new/old",
  ],
  [
    "an old root's place outside the new root",
    "PIVOT_OLD_OUTSIDE",
    "mkdir new old; mount -t tmpfs new new; mount -t tmpfs old old",
    "new",
    "old",
  ],
];

describe("the cause of pivot_root's refusal is named, as the kernel really gave it, for", () => {
  for (const [name, reason, lines, newRoot, putOld] of CASES)
    testNeeding(["root"], name, async () => {
      const { folder, errno, mounts } = await pivot(lines, newRoot, putOld);
      expect(errno).toBe(22);
      const attempt = { newRoot: `${folder}/${newRoot}`, putOld: `${folder}/${putOld}`, mounts };
      expect(explainPivotRoot(attempt)?.reason).toBe(reason);
    });

  testNeeding(["root"], "a caller inside a chroot", async () => {
    const enter =
      "mkdir -p jail/new jail/proc; mount -t tmpfs new jail/new; mkdir jail/new/old; mount --rbind /proc jail/proc; for d in usr bin lib lib64 dev; do mkdir -p jail/$d; mount --rbind /$d jail/$d; done; chroot=(chroot jail)";
    const { errno, mounts } = await pivot(enter, "new", "new/old", "/");
    expect(errno).toBe(22);
    expect(explainPivotRoot({ newRoot: "/new", putOld: "/new/old", mounts })?.reason).toBe("PIVOT_IN_CHROOT");
  });

  testNeeding(["root"], "none, where the kernel took it", async () => {
    const { folder, errno } = await pivot(
      "mkdir new; mount --rbind / new; mkdir -p new/$PWD/old",
      "new",
      "new/$PWD/old",
    );
    expect(folder).toMatch(/^\//);
    expect(errno).toBe(0);
  });

  testNeeding(["root"], "EBUSY: a folder that is no mount, on the mount of the present root", async () => {
    const { folder, errno, mounts } = await pivot("mkdir -p new/old", "new", "new/old");
    expect(errno).toBe(16);
    expect(explainPivotRoot({ newRoot: `${folder}/new`, mounts })?.reason).toBe("PIVOT_NOT_A_MOUNT");
  });

  testNeeding(["root"], "EBUSY: the present root as the new one", async () => {
    const { errno, mounts } = await pivot("true", "/", "/", "");
    expect(errno).toBe(16);
    expect(explainPivotRoot({ newRoot: "/", mounts })?.reason).toBe("PIVOT_ONTO_ITSELF");
  });
});

// No process of a running system has it as its root.
test("an initramfs as the root is told from its line in mountinfo", () => {
  const mounts = parseMountinfo("1 1 0:2 / / rw - rootfs rootfs rw\n20 1 0:19 / /new rw - tmpfs tmpfs rw\n");
  expect(explainPivotRoot({ newRoot: "/new", mounts })?.reason).toBe("PIVOT_ON_ROOTFS");
});

test("mounts that show none of the causes give no explanation", () => {
  const mounts = parseMountinfo(
    "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n31 30 0:19 / /new rw - tmpfs tmpfs rw\n",
  );
  expect(explainPivotRoot({ newRoot: "/new", mounts })).toBeUndefined();
});

async function pivot(lines: string, newRoot: string, putOld: string, base = "$T/") {
  const script = `T=$(mktemp -d); chroot=(); cd $T; ${lines}; echo $T; exec "\${chroot[@]}" perl -e '${PIVOT}' "${base}${newRoot}" "${base}${putOld}"`;
  const { stdout } = await promisify(execFile)("unshare", [
    "--mount",
    "--propagation",
    "private",
    "bash",
    "-ec",
    script,
  ]);
  const [folder = "", errno, ...lines_] = stdout.split("\n");
  await promisify(execFile)("rm", ["-rf", "--one-file-system", folder]);
  return { folder, errno: Number(errno), mounts: parseMountinfo(lines_.join("\n")) };
}
