/** Indices of the header's fields (X11/XWDFile.h), with what Xvfb writes for a 24 bit screen. */
const FIELDS = {
  size: 0,
  version: 1,
  format: 2,
  width: 4,
  height: 5,
  bits: 11,
  line: 12,
  red: 14,
  green: 15,
  blue: 16,
};
const HEADER_BYTES = 100;

/** A framebuffer file of a screen whose pixels are the given BGRX words. */
export function xwdOf(screen: {
  readonly width: number;
  readonly height: number;
  readonly words: readonly number[];
}): Buffer {
  const { width, height, words } = screen;
  const file = Buffer.alloc(HEADER_BYTES + words.length * 4);
  const set = (field: keyof typeof FIELDS, value: number) => file.writeUInt32BE(value, FIELDS[field] * 4);
  set("size", HEADER_BYTES);
  set("version", 7);
  set("format", 2);
  set("width", width);
  set("height", height);
  set("bits", 32);
  set("line", width * 4);
  set("red", 0xff0000);
  set("green", 0xff00);
  set("blue", 0xff);
  words.forEach((word, index) => {
    file.writeUInt32LE(word, HEADER_BYTES + index * 4);
  });
  return file;
}
