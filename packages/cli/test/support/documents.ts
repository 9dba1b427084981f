import { crc32, deflateRawSync } from "node:zlib";

/** A file of an archive. */
export interface Part {
  readonly name: string;
  readonly text: string;
  readonly stored?: boolean;
}

/** A zip archive of the parts, in their order (APPNOTE.TXT 4.3). */
export function archive(parts: readonly Part[]): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, text, stored = false } of parts) {
    const raw = Buffer.from(text);
    const data = stored ? raw : deflateRawSync(raw);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(stored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(raw), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(raw.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, Buffer.from(name), data]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    centrals.push(
      Buffer.concat([Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), common, tail, Buffer.from(name)]),
    );
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, central, Buffer.from("PK\x05\x06"), end]);
}

export const ODT = "application/vnd.oasis.opendocument.text";

/** An .odt with this inside its text. */
export function odt(
  content: string,
  changes: { readonly mimetype?: Part; readonly without?: string } = {},
): Buffer {
  const parts = [
    changes.mimetype ?? { name: "mimetype", text: ODT, stored: true },
    { name: "content.xml", text: `<o:doc xmlns:o="o" xmlns:text="t">${content}</o:doc>` },
    { name: "styles.xml", text: "<a/>" },
    { name: "meta.xml", text: "<a/>" },
    { name: "META-INF/manifest.xml", text: "<a/>" },
  ];
  return archive(parts.filter(({ name }) => name !== changes.without));
}

/** A .docx with this inside its body. */
export function docx(body: string): Buffer {
  const type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
  return archive([
    { name: "[Content_Types].xml", text: `<Types><Override ContentType="${type}"/></Types>` },
    { name: "_rels/.rels", text: "<r/>" },
    { name: "word/document.xml", text: `<w:d xmlns:w="w"><w:body>${body}</w:body></w:d>` },
  ]);
}
