import { spawn } from "node:child_process";
import { once } from "node:events";
import { findDesktop } from "../../src/recipes/find.js";
import { makeFolder, mustRun, writeInside } from "../../src/session/boot/inside.js";
import { USER } from "../../src/session/paths.js";
import type { GnomeFault, GnomeSession } from "../support/gnome.js";

// Ways in which a GNOME start fails, each made to happen for real.

/** The X server without one of its extensions, whichever way the recipe spells it. */
export function withoutExtension(name: string): GnomeFault {
  const isNamed = (word: string | undefined) => word?.toLowerCase() === name.toLowerCase();
  return {
    alter: (program) => {
      if (program.name !== "xserver") return program;
      const [file, ...args] = program.argv;
      const kept = args.filter(
        (word, index) => !isNamed(word) && !(word === "+extension" && isNamed(args[index + 1])),
      );
      return { ...program, argv: [file, ...kept, "-extension", name] };
    },
  };
}

/** gnome-session with another environment; undefined takes a variable away. */
export function withEnvironment(changes: Readonly<Record<string, string | undefined>>): GnomeFault {
  return {
    alter: (program) => {
      if (program.name !== "gnome-session") return program;
      const env = Object.entries({ ...program.env, ...changes }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      return { ...program, env: Object.fromEntries(env) };
    },
  };
}

/** Fills a new IPC namespace with segments whose ids are those that the Shell's own will have in its. */
const COLLIDE = `import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmget.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_int]
for _ in range(64):
    if libc.shmget(0, 8 << 20, 0o1777) < 0: sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
`;

/**
 * The X server in an IPC namespace of its own, in which the ids of the Shell's segments are those of others. It is
 * started from outside, since a session may not make namespaces, and dies with the session's pid namespace.
 */
export const shmCollision: GnomeFault = {
  alter: (program) => (program.name === "xserver" ? undefined : program),
  async prepare({ live }) {
    const { init, spec } = live.record;
    const { folders, programs, env } = findDesktop("gnome");
    const argv = programs.find(({ name }) => name === "xserver")?.argv ?? [];
    await live.withInit(async (control) => {
      for (const folder of folders) await makeFolder(control, folder);
    });
    const user = spec.idBase === undefined ? [] : ["--user"];
    const join = ["--target", `${init?.pid}`, ...user, "--mount", "--pid", "--net", "--uts", "--wd=/"];
    const as = ["--setuid", `${USER.uid}`, "--setgid", `${USER.gid}`, "env", "-i", `PATH=${env.PATH}`];
    const command = ["--ipc", "nsenter", ...join, ...as, "python3", "-c", COLLIDE, ...argv];
    await once(spawn("unshare", command, { stdio: "ignore" }), "spawn");
  },
};

const ANYTHING_GOES = `<busconfig><type>system</type><listen>unix:path=/tmp/system-bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>`;

/** Owns the name of its second argument on the bus of its first and answers nothing, in plain Python since an image has no other client at hand. */
const MUTE_OWNER = `import os, socket, struct, sys, time
s = socket.socket(socket.AF_UNIX)
while s.connect_ex(sys.argv[1]): time.sleep(0.05)
s.send(b"\\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\\r\\n"); s.recv(100); s.send(b"BEGIN\\r\\n")
def string(text): return struct.pack("<I", len(text)) + text + b"\\0"
def call(serial, member, signature=b"", body=b""):
    fields = b""
    for code, kind, value in ((1, b"o", b"/org/freedesktop/DBus"), (2, b"s", b"org.freedesktop.DBus"),
                              (3, b"s", member), (6, b"s", b"org.freedesktop.DBus"), (8, b"g", signature)):
        if value:
            fields += b"\\0" * (-len(fields) % 8) + bytes([code, 1]) + kind + b"\\0"
            fields += bytes([len(value)]) + value + b"\\0" if kind == b"g" else string(value)
    head = b"l\\1\\0\\1" + struct.pack("<III", len(body), serial, len(fields)) + fields
    s.send(head + b"\\0" * (-len(head) % 8) + body)
call(1, b"Hello")
name = string(sys.argv[2].encode())
call(2, b"RequestName", b"su", name + b"\\0" * (-len(name) % 4) + struct.pack("<I", 0))
while s.recv(65536): pass
`;

/** The call of a program that owns a name on a bus and answers nothing. */
export function muteOwner(bus: string, name: string): readonly [string, ...string[]] {
  return ["python3", "-c", MUTE_OWNER, bus, name];
}

/** A system bus on which a name that the Shell asks for at its start is owned but mute. */
export const muteAccounts: GnomeFault = {
  ...withEnvironment({ DBUS_SYSTEM_BUS_ADDRESS: "unix:path=/tmp/system-bus" }),
  systemBus: "/tmp/system-bus",
  async prepare({ live, spawn: start }) {
    await live.withInit((control) => writeInside(control, "/tmp/system-bus.conf", ANYTHING_GOES));
    await start(["dbus-daemon", "--config-file=/tmp/system-bus.conf", "--nofork"], { uid: 0 });
    await start(muteOwner("/tmp/system-bus", "org.freedesktop.Accounts"), { uid: 0 });
  },
};

/** The system bus is there and takes connections, but its daemon is stopped. */
export const stoppedSystemBus: GnomeFault = {
  prepare: (gnome) => signal(gnome, "STOP", "dbus-daemon"),
};

/** Sends a signal to every process of the session with that name. */
export async function signal({ live }: GnomeSession, name: string, process: string): Promise<void> {
  await live.withInit((control) => mustRun(control, ["pkill", `-${name}`, "-x", process]));
}
