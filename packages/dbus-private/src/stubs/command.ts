import { stubFile } from "../stub-files.js";
import { type DbusType, parseSignature } from "../wire/signature.js";
import { type MethodAnswer, SERVICES, type StubFacts, type StubService, type StubValue } from "./answers.js";
import { parseIntrospection } from "./introspection.js";

/** A service that can be stood in for. */
export type StubName = keyof typeof SERVICES;

/** The stubs that there are. None is needed by GNOME or openbox: an absent name fails at once, and they go on. */
export const stubNames = Object.keys(SERVICES) as readonly StubName[];

/** What {@link stubCommand} is given. */
export interface StubCommandSpec {
  readonly stub: StubName;
  /** The bus's socket, as the session sees it. */
  readonly busPath: string;
  readonly facts: StubFacts;
  /** Default `/usr/bin/python3`. */
  readonly python?: string;
}

/** One answer for one method of a plan. */
export type PlannedMethod = { readonly in: string; readonly out: string } & MethodAnswer;

/** What the server of a stub is told: nothing but data. */
export interface StubPlan {
  readonly bus: string;
  readonly name: string;
  readonly objects: Readonly<
    Record<
      string,
      {
        readonly xml: string;
        readonly interfaces: Readonly<
          Record<
            string,
            {
              readonly methods: Readonly<Record<string, PlannedMethod>>;
              readonly properties: Readonly<Record<string, readonly [signature: string, value: StubValue]>>;
            }
          >
        >;
      }
    >
  >;
}

/**
 * The argv of a stub: a small Python program that owns one name of a bus and answers every method and property of the
 * service's interface with a typed value, or with NotSupported. Start it in the session, through its init and as its
 * root, so that it is part of a dump. It ends with a message where the image's policy lets nobody own the name, or it
 * has an owner: a name is answered for wholly or not owned.
 */
export function stubCommand(spec: StubCommandSpec): string[] {
  const { python = "/usr/bin/python3" } = spec;
  return [python, "-c", stubFile("serve.py"), JSON.stringify(stubPlan(spec))];
}

/** What a stub will answer, method by method. */
export function stubPlan({ stub, busPath, facts }: StubCommandSpec): StubPlan {
  const service = SERVICES[stub];
  const xml = stubFile(`${stub}.xml`);
  const { methods, properties } = parseIntrospection(xml).get(service.interface) ?? {
    methods: [],
    properties: [],
  };
  const told = service.properties(facts);
  return {
    bus: busPath,
    name: service.name,
    objects: {
      [service.path]: {
        xml,
        interfaces: {
          [service.interface]: {
            methods: Object.fromEntries(
              [...methods].map(([name, shape]) => [name, { ...shape, ...answerOf(service, name) }]),
            ),
            properties: Object.fromEntries(
              [...properties].map(([name, signature]) => [
                name,
                [signature, told[name] ?? zeroOf(signature)],
              ]),
            ),
          },
        },
      },
    },
  };
}

function answerOf({ methods, name }: StubService, method: string): MethodAnswer {
  return (
    methods[method] ?? {
      error: "org.freedesktop.DBus.Error.NotSupported",
      text: `${name} is stood in for in this session and cannot do ${method}`,
    }
  );
}

/** The zero of a type: 0, false, the empty string, the root's path, nothing in an array. */
function zeroOf(signature: string): StubValue {
  return zero(parseSignature(signature)[0]);
}

function zero(type: DbusType | undefined): StubValue {
  if (type?.kind === "struct") return type.fields.map((field) => zero(field));
  if (type?.kind !== "basic") return type?.kind === "variant" ? ["s", ""] : [];
  if (type.code === "b") return false;
  if (type.code === "o") return "/";
  return type.code === "s" || type.code === "g" ? "" : 0;
}
