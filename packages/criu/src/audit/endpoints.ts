/**
 * An address and port as /proc/net/tcp and its like write them: words of 32 bits in the machine's own byte order
 * (little-endian here), in hexadecimal. Gives `127.0.0.1:8080`, `[::1]:80`; what is no such text stays as it is.
 */
export function endpointText(hex: string): string {
  const [address = "", port = ""] = hex.split(":");
  const bytes = /^(?:[0-9A-F]{8}|[0-9A-F]{32})$/.test(address) ? bytesOf(address) : [];
  if (bytes.length === 4) return `${bytes.join(".")}:${Number.parseInt(port, 16)}`;
  if (bytes.length === 16) return `[${ipv6Text(bytes)}]:${Number.parseInt(port, 16)}`;
  return hex;
}

function bytesOf(address: string): number[] {
  const words = address.match(/.{8}/g) ?? [];
  return words.flatMap((word) =>
    (word.match(/../g) ?? []).reverse().map((byte) => Number.parseInt(byte, 16)),
  );
}

/** Groups without leading zeros, the longest run of zero groups left out (RFC 5952); IPv4 in IPv6 by its IPv4. */
function ipv6Text(bytes: readonly number[]): string {
  const groups = bytes.flatMap((byte, index) =>
    index % 2 === 0 ? [(byte << 8) | (bytes[index + 1] ?? 0)] : [],
  );
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return `::ffff:${bytes.slice(12).join(".")}`;
  const text = groups.map((group) => group.toString(16)).join(":");
  const runs = text.match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? [];
  const longest = runs.sort((a, b) => b.length - a.length)[0];
  if (longest === undefined) return text;
  const [before = "", ...after] = text.split(longest);
  return `${before}::${after.join(longest).replace(/^:/, "")}`;
}
