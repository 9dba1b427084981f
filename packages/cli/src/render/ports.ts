import { PUBLISH_ADDRESS, type PublishedPort } from "@drums/nsexec";

/** A line a published port, indented; empty where there is none. */
export function portLines(ports: readonly PublishedPort[] = []): string {
  return ports
    .map(({ hostPort, guestPort }) => `  ${PUBLISH_ADDRESS}:${hostPort} leads to its port ${guestPort}\n`)
    .join("");
}

/** A session's network in one cell of a table: `lo`, `nat`, `nat 40123:8080`. */
export function networkCell(network: string, ports: readonly PublishedPort[]): string {
  if (network === "none") return "lo";
  return [network, ...ports.map(({ hostPort, guestPort }) => `${hostPort}:${guestPort}`)].join(" ");
}
