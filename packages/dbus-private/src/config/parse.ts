import { SaxesParser, type SaxesTagPlain } from "saxes";
import { DbusError } from "../errors.js";

/** One element of a bus configuration, with where it was found. */
export interface ConfigElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Its own text, exactly: dbus-daemon trims nothing. */
  readonly text: string;
  readonly children: readonly ConfigElement[];
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** busconfig > policy > allow is 3; what is deeper than this is no configuration. */
const MAX_DEPTH = 8;

type Growing = { -readonly [K in keyof ConfigElement]: ConfigElement[K] } & { children: Growing[] };

/**
 * Parses a bus configuration's XML into its root element. External entities are never read and entities of the
 * document's own are not known, so a hostile file can neither read others nor grow.
 *
 * @param text the file's content
 * @param options `file`: its path, for errors
 * @throws DbusError `CONFIG_MALFORMED`
 */
export function parseConfig(text: string, options: { readonly file: string }): ConfigElement {
  const { file } = options;
  const parser = new SaxesParser({ xmlns: false, position: true });
  const open: Growing[] = [];
  let root: Growing | undefined;

  parser.on("opentag", (tag: SaxesTagPlain) => {
    if (open.length === MAX_DEPTH) throw malformed(`elements nested deeper than ${MAX_DEPTH}`, at());
    const element: Growing = {
      name: tag.name,
      attributes: { ...tag.attributes },
      text: "",
      children: [],
      ...at(),
    };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on("closetag", () => {
    open.pop();
  });
  const onText = (content: string) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += content;
  };
  parser.on("text", onText);
  parser.on("cdata", onText);
  parser.on("error", (cause) => {
    throw malformed(cause.message, at(), cause);
  });
  const at = () => ({ file, line: parser.line });

  parser.write(text).close();
  if (root?.name === "busconfig") return root;
  throw malformed(`the root element is <${root?.name ?? ""}>, not <busconfig>`, { file, line: 1 });
}

/** The refusal of a configuration that dbus-daemon would refuse as well. */
export function malformed(
  why: string,
  where: { readonly file: string; readonly line: number },
  cause?: unknown,
): DbusError {
  return new DbusError("CONFIG_MALFORMED", `${where.file}, line ${where.line}: ${why}`, {
    hint: "dbus-daemon would refuse it too; mend the file in the image, or leave it out",
    path: where.file,
    line: where.line,
    cause,
  });
}
