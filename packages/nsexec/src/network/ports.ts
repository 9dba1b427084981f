import { NsexecError } from "../errors.js";

/** A port of the namespace that the host is to reach. */
export interface PortRequest {
  /** On the host's 127.0.0.1. Default 0: a free one, which the result names. */
  readonly hostPort?: number;
  readonly guestPort: number;
}

/** A port of the host that leads into a namespace. */
export interface PublishedPort {
  readonly hostPort: number;
  readonly guestPort: number;
}

/**
 * Parses `HOSTPORT:GUESTPORT`, `0:GUESTPORT` or `GUESTPORT`; the last two ask for a free port of the host.
 * @throws NsexecError code PORT_INVALID
 */
export function parsePublish(text: string): Required<PortRequest> {
  const [, host = "0", guest = ""] = /^(?:(\d{1,5}):)?(\d{1,5})$/.exec(text) ?? [];
  return checkedPort({ hostPort: Number(host), guestPort: Number(guest) });
}

/** A request whose ports exist. @throws NsexecError code PORT_INVALID */
export function checkedPort({ hostPort = 0, guestPort }: PortRequest): Required<PortRequest> {
  if (isPort(guestPort) && (hostPort === 0 || isPort(hostPort))) return { hostPort, guestPort };
  throw new NsexecError(
    "PORT_INVALID",
    `${hostPort}:${guestPort} names no ports of the host and the session`,
    {
      hint: "Give HOSTPORT:GUESTPORT from 1 to 65535; HOSTPORT 0 or left out takes a free one.",
    },
  );
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}
