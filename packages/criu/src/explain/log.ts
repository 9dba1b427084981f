/** One message of a CRIU log. */
export interface LogLine {
  /** Seconds since CRIU's start, where the line has them. */
  readonly seconds?: number;
  /** The inner pid a restore's line speaks of, where it has one. */
  readonly pid?: number;
  readonly level: "error" | "warning" | "info";
  /** Such as `criu/cr-dump.c:391`, where the line has it. */
  readonly source?: string;
  readonly message: string;
  /** The line as it stands in the log. */
  readonly raw: string;
}

/** `(00.035168)      1: Error (criu/util.c:1534): rlimit: Can't …` with every part before the message optional; no times below level 3. */
const LINE = /^(?:\((\d+\.\d+)\))?\s*(?:(\d+):\s*)?(?:(Error|Warn)\s+\(([^)]+)\):\s*)?(.*)$/;

/** Parses a CRIU log, line by line. */
export function parseLog(text: string): LogLine[] {
  return text.split("\n").filter(Boolean).map(parseLine);
}

function parseLine(raw: string): LogLine {
  const [, seconds, pid, level, source, message = raw] = LINE.exec(raw) ?? [];
  return {
    ...(seconds === undefined ? {} : { seconds: Number(seconds) }),
    ...(pid === undefined ? {} : { pid: Number(pid) }),
    level: level === "Error" ? "error" : level === "Warn" ? "warning" : "info",
    ...(source === undefined ? {} : { source }),
    message,
    raw,
  };
}

/**
 * Error lines that explain nothing: a good dump or restore writes them as well, or, as cgroupd's, any restore that
 * fails for whatever reason (criu/cgroup.c, cgroupd: its peer is gone).
 */
const HARMLESS = [
  /cgroupd: recv req error/,
  /Can't setup RLIMIT_NOFILE for self/,
  /\b(ip6?tables|nft)[\w-]*\b.*(failed|not found|exited)/i,
  /Can't keep kdat cache on non-tempfs/,
];

/** The error lines of a log, without the harmless ones. */
export function errorLines(text: string): LogLine[] {
  return parseLog(text).filter(
    ({ level, message }) => level === "error" && !HARMLESS.some((pattern) => pattern.test(message)),
  );
}
