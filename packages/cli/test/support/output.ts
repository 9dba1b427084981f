import type { Output } from "../../src/render/style.js";

/** An output that keeps what is written to it. */
export class KeptOutput implements Output {
  text = "";
  constructor(
    readonly isTTY = false,
    readonly columns?: number | undefined,
  ) {}

  write(text: string): void {
    this.text += text;
  }
}
