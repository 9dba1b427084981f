import { type Frame, parseXwd } from "@drums/readiness";

/**
 * Turns framebuffer files into frames. One that shows just what the last one did gives the same frame again, which is
 * then judged once: siblings of one checkpoint begin with one picture.
 */
export class FrameParser {
  #last: { readonly file: Buffer; readonly frame: Frame } | undefined;

  /** The file must not be written to afterwards. @throws ReadinessError BAD_XWD */
  parse(file: Buffer): Frame {
    if (this.#last?.file.equals(file)) return this.#last.frame;
    const frame = parseXwd(file);
    this.#last = { file, frame };
    return frame;
  }
}
