/**
 * An address as CRIU keeps it: words of four bytes in network order, read as little-endian numbers
 * (criu/sk-inet.c). Fewer words than an address has are taken as zero.
 */
export function inetAddress(words: readonly number[], { isSix }: { readonly isSix: boolean }): string {
  const bytes = Buffer.alloc(isSix ? 16 : 4);
  for (let at = 0; at * 4 < bytes.length; at++) bytes.writeUInt32LE(words[at] ?? 0, at * 4);
  if (!isSix) return [...bytes].join(".");
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16));
  return `[${shortest(groups.join(":"))}]`;
}

/** RFC 5952: the longest run of two or more zero groups is written as `::`. */
function shortest(address: string): string {
  const runs = address.match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? [];
  const longest = runs.sort((a, b) => b.length - a.length)[0];
  if (longest === undefined) return address;
  const at = address.indexOf(longest);
  const [before, after] = [address.slice(0, at), address.slice(at + longest.length)];
  return `${before}:${after === "" ? ":" : after}`.replace(/^:(?!:)/, "::");
}
