/** Where Debian puts a machine's own name that has no address of its own (hosts(5), Debian reference 5.1.1). */
const OWN_ADDRESS = "127.0.1.1";

/** A hosts(5) text in which the machine has this name and no other; all other lines stay as they are. */
export function hostsWith(text: string, hostname: string): string {
  const lines = text.split("\n");
  const kept = lines.filter((line) => line.trim().split(/\s+/)[0] !== OWN_ADDRESS);
  const place = lines.findIndex((line) => line.trim().split(/\s+/)[0] === OWN_ADDRESS);
  kept.splice(place === -1 ? 0 : place, 0, `${OWN_ADDRESS}\t${hostname}`);
  return kept.join("\n");
}
