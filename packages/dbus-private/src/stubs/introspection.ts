import { SaxesParser } from "saxes";
import { parseSignature } from "../wire/signature.js";

/** A method as an interface describes it: the signatures of what it takes and gives. */
export interface MethodShape {
  readonly in: string;
  readonly out: string;
}

/** An interface's methods and the signatures of its properties, by name. */
export interface InterfaceShape {
  readonly methods: ReadonlyMap<string, MethodShape>;
  readonly properties: ReadonlyMap<string, string>;
}

/**
 * Reads introspection XML (D-Bus specification, "Introspection Data Format"): its interfaces by name. For data of
 * our own: what is not well-formed throws as the parser does, a signature that is none as `PROTOCOL`.
 */
export function parseIntrospection(xml: string): Map<string, InterfaceShape> {
  const interfaces = new Map<string, InterfaceShape>();
  let methods = new Map<string, MethodShape>();
  let properties = new Map<string, string>();
  let member = "";
  let isMethod = false;
  const parser = new SaxesParser({ xmlns: false });
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name: tag, attributes }) => {
    const { name = "", type = "", direction = "in" } = attributes as Record<string, string>;
    if (tag === "interface") {
      methods = new Map();
      properties = new Map();
      interfaces.set(name, { methods, properties });
    } else if (tag === "method" || tag === "signal") {
      isMethod = tag === "method";
      member = name;
      if (isMethod) methods.set(name, { in: "", out: "" });
    } else if (tag === "property") properties.set(name, checked(type));
    else if (tag === "arg" && isMethod) {
      const shape = methods.get(member) ?? { in: "", out: "" };
      const side = direction === "out" ? "out" : "in";
      methods.set(member, { ...shape, [side]: shape[side] + checked(type) });
    }
  });
  parser.write(xml).close();
  return interfaces;
}

function checked(signature: string): string {
  parseSignature(signature);
  return signature;
}
