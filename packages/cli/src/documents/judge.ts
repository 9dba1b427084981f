import { messageOf } from "../errors.js";
import { type ArchiveFile, readArchive } from "./archive.js";
import { checkXml, ODF_TEXT, paragraphsOf, type Vocabulary, WORDPROCESSING_ML } from "./paragraphs.js";

/** Formats that can be judged. */
export type DocumentFormat = "odt" | "docx";

/** What a document was found to be. Its text is empty where it could not be read. */
export interface DocumentVerdict {
  readonly valid: boolean;
  /** Each in one sentence. */
  readonly faults: readonly string[];
  /** Paragraphs joined by newlines. */
  readonly text: string;
}

interface Format {
  /** The part that holds the text. */
  readonly part: string;
  /** Parts that must be there beside it. */
  readonly parts: readonly string[];
  readonly vocabulary: Vocabulary;
  /** What else must hold of the package. */
  faults(files: readonly ArchiveFile[]): string[];
}

const ODT_TYPE = "application/vnd.oasis.opendocument.text";
const DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";

const FORMATS: Readonly<Record<DocumentFormat, Format>> = {
  odt: {
    part: "content.xml",
    parts: ["META-INF/manifest.xml", "styles.xml", "meta.xml"],
    vocabulary: ODF_TEXT,
    // OpenDocument 1.3, part 2, 3.3: the first file, without compression.
    faults: ([first]) =>
      first?.name === "mimetype" && first.stored && first.content.toString() === ODT_TYPE
        ? []
        : [`its first file is not an uncompressed mimetype that says ${ODT_TYPE}`],
  },
  docx: {
    part: "word/document.xml",
    parts: ["[Content_Types].xml", "_rels/.rels"],
    vocabulary: WORDPROCESSING_ML,
    faults: (files) =>
      textOf(files, "[Content_Types].xml").includes(DOCX_TYPE)
        ? []
        : ["[Content_Types].xml does not name the type of its main part"],
  },
};

/**
 * Judges a document by its package and all its XML, and reads its text. It may come from a session: everything is
 * bounded, nothing is written, no entity of its own is followed. Never throws for a bad document.
 */
export async function judgeDocument(bytes: Buffer, format: DocumentFormat): Promise<DocumentVerdict> {
  const { part, parts, vocabulary, faults: more } = FORMATS[format];
  try {
    const files = await readArchive(bytes);
    const faults = [
      ...[part, ...parts].filter((name) => !has(files, name)).map((name) => `${name} is missing`),
      ...more(files),
      ...files.flatMap(xmlFault),
    ];
    const text = faults.length === 0 ? paragraphsOf(textOf(files, part), vocabulary).join("\n") : "";
    return { valid: faults.length === 0, faults, text };
  } catch (error) {
    return { valid: false, faults: [`it is no zip archive that can be read: ${messageOf(error)}`], text: "" };
  }
}

function xmlFault({ name, content }: ArchiveFile): string[] {
  if (!/\.(?:xml|rels|rdf)$/.test(name)) return [];
  try {
    checkXml(content.toString("utf8"));
    return [];
  } catch (error) {
    return [`${name} is not well-formed XML: ${messageOf(error)}`];
  }
}

function has(files: readonly ArchiveFile[], name: string): boolean {
  return files.some((file) => file.name === name);
}

function textOf(files: readonly ArchiveFile[], name: string): string {
  return files.find((file) => file.name === name)?.content.toString("utf8") ?? "";
}
