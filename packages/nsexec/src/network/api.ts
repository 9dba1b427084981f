import { once } from "node:events";
import { connect, createServer } from "node:net";
import { NsexecError } from "../errors.js";
import { NAT, PUBLISH_ADDRESS } from "./constants.js";
import { checkedPort, type PortRequest, type PublishedPort } from "./ports.js";

const TIMEOUT_MS = 5_000;
/** Another program may take a port between our finding it free and slirp4netns' binding it. */
const FREE_PORT_ATTEMPTS = 16;

/**
 * Forwards a port of the host's 127.0.0.1 into a NAT's namespace.
 * @param socket  the API socket of slirp4netns
 * @throws NsexecError code PORT_TAKEN, PORT_INVALID, NAT_API
 */
export async function publishPort(socket: string, request: PortRequest): Promise<PublishedPort> {
  const { hostPort, guestPort } = checkedPort(request);
  if (hostPort !== 0) {
    if (await forward(socket, { hostPort, guestPort })) return { hostPort, guestPort };
    throw portTaken(hostPort);
  }
  for (let attempt = 0; attempt < FREE_PORT_ATTEMPTS; attempt++) {
    const free = { hostPort: await findFreePort(), guestPort };
    if (await forward(socket, free)) return free;
  }
  throw new NsexecError("NAT_API", `slirp4netns took none of ${FREE_PORT_ATTEMPTS} free ports`, {
    path: socket,
    hint: "See nat.log beside the socket.",
  });
}

/** What slirp4netns forwards, by its own word. @throws NsexecError code NAT_API */
export async function listForwards(socket: string): Promise<PublishedPort[]> {
  const answer = await ask(socket, { execute: "list_hostfwd" });
  const entries = "entries" in answer && Array.isArray(answer.entries) ? answer.entries : [];
  return entries.map((entry: Record<string, unknown>) => ({
    hostPort: Number(entry.host_port),
    guestPort: Number(entry.guest_port),
  }));
}

/** False where slirp4netns could not bind the port. */
async function forward(socket: string, { hostPort, guestPort }: PublishedPort): Promise<boolean> {
  const answer = await ask(socket, {
    execute: "add_hostfwd",
    arguments: {
      proto: "tcp",
      host_addr: PUBLISH_ADDRESS,
      host_port: hostPort,
      guest_addr: NAT.address,
      guest_port: guestPort,
    },
  });
  return "return" in answer;
}

/** One connection a request; slirp4netns answers once our side is shut (api.c of slirp4netns). */
async function ask(socket: string, request: object): Promise<object> {
  const connection = connect({ path: socket, allowHalfOpen: true });
  connection.setTimeout(TIMEOUT_MS, () => connection.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)));
  try {
    connection.end(JSON.stringify(request));
    const chunks: Buffer[] = [];
    for await (const chunk of connection) chunks.push(chunk);
    return asObject(JSON.parse(Buffer.concat(chunks).toString()));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new NsexecError("NAT_API", `slirp4netns does not answer: ${why}`, {
      path: socket,
      hint: "It may have ended with its session: see nat.log beside the socket.",
      cause,
    });
  } finally {
    connection.destroy();
  }
}

function asObject(value: unknown): object {
  if (typeof value === "object" && value !== null) return value;
  throw new Error(`an answer that is no object: ${JSON.stringify(value)}`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, PUBLISH_ADDRESS);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

function portTaken(port: number): NsexecError {
  return new NsexecError("PORT_TAKEN", `port ${port} of ${PUBLISH_ADDRESS} cannot be bound`, {
    hint: `See \`ss -ltnp sport = :${port}\` for who has it, or publish on port 0 for a free one.`,
  });
}
