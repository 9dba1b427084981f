import { posix } from "node:path";
import { parseProcCgroup } from "@drums/cgroup2";
import { parseMountinfo } from "@drums/nsexec/proc";
import type { AttemptRecords } from "../load.js";
import type { FixedValue } from "../records.js";
import { sameFile } from "./identity.js";
import { type ClaimRule, expect, type Finding, unknown } from "./rule.js";

/** Namespaces that a session never shares with the host. */
const OWN_NAMESPACES = ["mnt", "pid", "uts", "ipc", "net"] as const;

/** The session started by the two-stage handshake; nothing of the desktop ran before `go`. */
export const handshake: ClaimRule = {
  id: "handshake",
  sentence:
    "The session started by the two-stage handshake: both sides agree, and only then did the desktop start.",
  steps: ["boot"],
  check: (records) => {
    const { checks } = records.get("session/handshake.json");
    const failed = checks.filter(({ ok }) => !ok);
    return [
      expect(checks.length > 0, `${checks.length} checks made before go`, "no check was made before go"),
      ...failed.map(({ name, detail }) => expect(false, "", `${name}: ${detail}`)),
      mountTable(records),
      ...namespaces(records),
      membership(records),
      goBeforeDesktop(records),
    ];
  },
};

function mountTable(records: AttemptRecords): Finding {
  const same = records.get("session/report.json").mountinfo === records.text("session/mountinfo.txt");
  return expect(same, "init and host read the same mount table", "init and host read different mount tables");
}

function namespaces(records: AttemptRecords): Finding[] {
  const inside = records.get("session/report.json").namespaces;
  const outside = records.get("session/handshake.json").namespaces;
  const host = records.get("host.json").namespaces;
  const faults = OWN_NAMESPACES.flatMap((kind) => {
    const [said, seen, own] = [inside[kind], outside[kind], host[kind]];
    if (!said || !seen || !own) return [`the ${kind} namespace is not recorded on both sides`];
    if (!sameFile(said, seen)) return [`init says ${kind} ${said.inode}, the host sees ${seen.inode}`];
    return sameFile(seen, own) ? [`the ${kind} namespace is the host's`] : [];
  });
  if (faults.length > 0) return faults.map((fault) => expect(false, "", fault));
  return [expect(true, `own ${OWN_NAMESPACES.join(", ")} namespaces, seen alike from both sides`, "")];
}

function membership(records: AttemptRecords): Finding {
  const { group, initPid } = records.get("session/handshake.json");
  if (group === null) return unknown("this machine has no cgroup2 mount: no membership to check");
  const says = saysGroup(records.get("session/report.json").cgroup, group);
  const lists = group.procs.includes(initPid);
  return expect(
    says && lists,
    `in cgroup ${group.relative} by its own word and by cgroup.procs`,
    `${says ? "" : `init does not say it is in ${group.relative}; `}${lists ? "" : `cgroup.procs of ${group.path} does not list init`}`,
  );
}

/** A path in a cgroup namespace counts from its root, which is "/" or the caller's own group (cgroup_namespaces(7)). */
function saysGroup(
  cgroup: string,
  { relative, ownPath = "/" }: { relative: string; ownPath?: string },
): boolean {
  const said = parseProcCgroup(cgroup);
  return said !== undefined && (said === relative || posix.resolve(ownPath, `.${said}`) === relative);
}

function goBeforeDesktop(records: AttemptRecords): Finding {
  const { reportedMs, goMs } = records.get("session/handshake.json");
  const starts = (step: string) =>
    records.events.find((event) => event.event === "start" && event.step === step);
  const first = starts("bus") ?? starts("readiness");
  const after = first === undefined || first.monotonicMs >= goMs;
  return expect(
    reportedMs <= goMs && after,
    `go ${(goMs - reportedMs).toFixed(1)} ms after the report`,
    reportedMs > goMs ? "go came before the report" : "something of the desktop started before go",
  );
}

/** The session's root is an overlay whose decisive options the kernel really took. */
export const overlay: ClaimRule = {
  id: "overlay",
  sentence: "The session's root is an overlay with index=on and nfs_export=on, read back from its mountinfo.",
  steps: ["boot"],
  check: (records) => {
    const root = parseMountinfo(records.text("session/mountinfo.txt"))
      .filter(({ mountPoint }) => mountPoint === "/")
      .at(-1);
    if (root === undefined) return [expect(false, "", "the mount table has no /")];
    return [
      expect(root.fsType === "overlay", "/ is an overlay", `/ is ${root.fsType}`),
      ...["index=on", "nfs_export=on"].map((option) =>
        expect(
          root.superOptions.includes(option),
          option,
          `${option} was not taken: ${root.superOptions.join(",")}`,
        ),
      ),
    ];
  },
};

/** The system bus is private and starts nothing. */
export const privateBus: ClaimRule = {
  id: "private-bus",
  sentence: "The session's system bus is its own and activates nothing; the host's socket is untouched.",
  steps: ["bus"],
  check: (records) => busFindings(records.get("bus.json")),
};

/** What holds for the bus of a session, original or sibling. */
export function busFindings({
  activatable,
  missingName,
  socket,
  hostSocket,
}: FixedValue<"bus.json">): Finding[] {
  return [
    expect(
      activatable.length === 1 && activatable[0] === "org.freedesktop.DBus",
      "activatable: org.freedesktop.DBus alone",
      `activatable: ${activatable.join(", ") || "nothing, not even the bus itself"}`,
    ),
    expect(
      missingName.error.includes("ServiceUnknown"),
      `a missing name answers ServiceUnknown in ${missingName.ms.toFixed(1)} ms`,
      `a missing name answers ${missingName.error}`,
    ),
    expect(!sameFile(socket, hostSocket.before), "not the host's socket", "its socket is the host's"),
    expect(
      sameFile(hostSocket.before, hostSocket.after),
      hostSocket.before === null
        ? "the host has no bus socket"
        : "the host's socket is the same before and after",
      `${hostSocket.path} of the host changed`,
    ),
  ];
}
