import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { PinnedDeb } from "../../src/index.js";

/** A member of a package, as a hostile packager can write it: nothing is checked. */
export interface Member {
  readonly name: string;
  /** tar's type flag. Default "0", a file. */
  readonly type?: string;
  readonly content?: string;
  readonly linkName?: string;
  readonly mode?: number;
  readonly uid?: number;
}

/** Writes a .deb by hand: an ar archive of debian-binary, control.tar.gz and data.tar.gz. */
export async function makeDeb(
  folder: string,
  name: string,
  members: readonly Member[],
  fields = "",
): Promise<PinnedDeb> {
  const control = `Package: ${name}\nVersion: 1\n${fields}Architecture: all\nMaintainer: nobody <n@example.org>\nDescription: test\n`;
  const parts: readonly (readonly [string, Buffer])[] = [
    ["debian-binary", Buffer.from("2.0\n")],
    ["control.tar.gz", gzipSync(tar([{ name: "./control", content: control }]))],
    ["data.tar.gz", gzipSync(tar(members))],
  ];
  const bytes = Buffer.concat([
    Buffer.from("!<arch>\n"),
    ...parts.map(([file, content]) => arMember(file, content)),
  ]);
  const path = join(folder, `${name}.deb`);
  await writeFile(path, bytes);
  return {
    path,
    sha256: createHash("sha256")
      .update(await readFile(path))
      .digest("hex"),
  };
}

function arMember(name: string, content: Buffer): Buffer {
  const header = `${name.padEnd(16)}${"0".padEnd(12)}${"0".padEnd(6)}${"0".padEnd(6)}${"100644".padEnd(8)}${String(content.length).padEnd(10)}\`\n`;
  return Buffer.concat([Buffer.from(header), content, Buffer.alloc(content.length % 2, "\n")]);
}

/** A tar archive; names over 100 bytes as GNU long names. */
export function tar(members: readonly Member[]): Buffer {
  return Buffer.concat([...members.flatMap(blocksOf), Buffer.alloc(1024)]);
}

function blocksOf(member: Member): Buffer[] {
  const long = Buffer.byteLength(member.name) > 100;
  const content = Buffer.from(member.content ?? "");
  const prefix = long ? blocksOf({ name: "././@LongLink", type: "L", content: `${member.name}\0` }) : [];
  return [
    ...prefix,
    header(member, content.length),
    content,
    Buffer.alloc((512 - (content.length % 512)) % 512),
  ];
}

function header({ name, type = "0", linkName = "", mode = 0o644, uid = 0 }: Member, size: number): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, at: number, length: number) =>
    block.write(value.toString(8).padStart(length - 1, "0"), at, "latin1");
  block.write(name.slice(0, 100), 0, "utf8");
  octal(mode, 100, 8);
  octal(uid, 108, 8);
  octal(uid, 116, 8);
  octal(size, 124, 12);
  octal(1_700_000_000, 136, 12);
  block.fill(0x20, 148, 156);
  block.write(type, 156, "latin1");
  block.write(linkName, 157, "utf8");
  block.write("ustar  ", 257, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}
