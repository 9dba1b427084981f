import { SaxesParser } from "saxes";

/** The elements of a document format that make up its text, by their qualified names as writers use them. */
export interface Vocabulary {
  readonly paragraphs: readonly string[];
  /** Elements whose characters are text; undefined: those of a paragraph anywhere. */
  readonly runs?: readonly string[];
  /** Elements that stand for characters. */
  readonly marks: Readonly<Record<string, string>>;
  /** Attribute that repeats a mark. */
  readonly repeat?: string;
}

/** OpenDocument 1.3, part 3, chapter 5 and 6. */
export const ODF_TEXT: Vocabulary = {
  paragraphs: ["text:p", "text:h"],
  marks: { "text:s": " ", "text:tab": "\t", "text:line-break": "\n" },
  repeat: "text:c",
};

/** ECMA-376, part 1, chapter 17. */
export const WORDPROCESSING_ML: Vocabulary = {
  paragraphs: ["w:p"],
  runs: ["w:t"],
  marks: { "w:tab": "\t", "w:br": "\n", "w:cr": "\n" },
};

/** A mark repeated more often than this is no text that was typed. */
const MAX_REPEAT = 1000;

/** Checks that a text is well-formed XML. Throws the parser's own words. */
export function checkXml(xml: string): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(xml).close();
}

/** The paragraphs of a document's XML, each as its plain text. Throws where it is not well formed. */
export function paragraphsOf(xml: string, words: Vocabulary): string[] {
  const { paragraphs, runs, marks, repeat } = words;
  const texts: string[] = [];
  const open: string[] = [];
  const isText = () =>
    open.some((name) => paragraphs.includes(name)) &&
    (runs === undefined || runs.includes(open.at(-1) ?? ""));
  const add = (text: string) => texts.push((texts.pop() ?? "") + text);
  const parser = new SaxesParser();
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (paragraphs.includes(name)) texts.push("");
    else if (marks[name] !== undefined && open.some((one) => paragraphs.includes(one)))
      add(marks[name].repeat(repeatOf(repeat === undefined ? undefined : attributes[repeat])));
    open.push(name);
  });
  parser.on("closetag", () => open.pop());
  parser.on("text", (text) => {
    if (isText()) add(text);
  });
  parser.write(xml).close();
  return texts;
}

function repeatOf(value: string | undefined): number {
  const count = Number(value ?? 1);
  return Number.isInteger(count) && count > 0 && count <= MAX_REPEAT ? count : 1;
}
