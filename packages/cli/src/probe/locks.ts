import type { RecordInput } from "../evidence/records.js";
import type { LiveSession } from "../session/open.js";
import { USER } from "../session/paths.js";

/** Locks a file as LibreOffice does, without waiting, and says what the kernel answered. */
const TRY_LOCK = `import errno, fcntl, sys
try:
    fcntl.lockf(open(sys.argv[1], "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("granted")
except OSError as error:
    print(errno.errorcode[error.errno])
`;

/** A file of the user's that nobody locks. */
const CONTROL = `${USER.home}/.profile`;

/** Who holds a lock on a file by the kernel's list, and how another program of the session fares with it. */
export async function lookAtLock(live: LiveSession, path: string): Promise<RecordInput<"locks.json">> {
  const { inode } = await live.root.stat(path);
  const argv = ["/usr/bin/python3", "-c", TRY_LOCK, path];
  const procLocks = await run(live, ["/bin/cat", "/proc/locks"]);
  const attempt = await run(live, argv);
  const control = await run(live, ["/usr/bin/python3", "-c", TRY_LOCK, CONTROL]);
  return {
    path,
    inode: String(inode),
    procLocks: procLocks.stdout,
    attempt: { argv, exitCode: attempt.exitCode, stdout: attempt.stdout, control: control.stdout },
  };
}

async function run(live: LiveSession, argv: readonly string[]) {
  const { uid, gid, home: cwd } = USER;
  const env = { PATH: "/usr/bin:/bin", HOME: USER.home };
  const done = await live.withInit((init) => init.run({ argv: [...argv], env, uid, gid, cwd }));
  return { exitCode: done.code ?? null, stdout: done.stdout.toString() };
}
