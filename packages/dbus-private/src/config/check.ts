import { type ConfigElement, malformed } from "./parse.js";

// What dbus-daemon 1.14 accepts (dbus-daemon(1), bus/config-parser.c): a file that it would skip, because it
// lies in an includedir and is wrong, must not get into a flattened configuration, which would then not load.

const LIMITS = new Set(
  `max_incoming_bytes max_incoming_unix_fds max_outgoing_bytes max_outgoing_unix_fds max_message_size
  max_message_unix_fds service_start_timeout auth_timeout pending_fd_timeout max_completed_connections
  max_incomplete_connections max_connections_per_user max_pending_service_starts max_names_per_connection
  max_match_rules_per_connection max_replies_per_connection reply_timeout max_containers
  max_containers_per_user max_container_metadata_bytes max_connections_per_container`.split(/\s+/),
);

const SEND =
  `send_interface send_member send_error send_destination send_destination_prefix send_path send_type
  send_broadcast send_requested_reply`.split(/\s+/);
const RECEIVE = `receive_interface receive_member receive_error receive_sender receive_path receive_type
  receive_requested_reply`.split(/\s+/);
/** Of these a rule has one, and nothing else with it. */
const ALONE = ["own", "own_prefix", "user", "group"];
const MODIFIERS = ["eavesdrop", "min_fds", "max_fds", "log"];
const RULE_ATTRIBUTES = new Set([...SEND, ...RECEIVE, ...ALONE, ...MODIFIERS]);

const BOOLEANS = ["eavesdrop", "send_broadcast", "send_requested_reply", "receive_requested_reply", "log"];
const MESSAGE_TYPES = ["method_call", "method_return", "signal", "error", "*"];

/** Every element that may stand in <busconfig>, with the attributes that it may have. */
const TOP_LEVEL: Readonly<Record<string, readonly string[]>> = {
  allow_anonymous: [],
  apparmor: ["mode"],
  auth: [],
  fork: [],
  include: ["ignore_missing", "if_selinux_enabled", "selinux_root_relative"],
  includedir: [],
  keep_umask: [],
  limit: ["name"],
  listen: [],
  pidfile: [],
  policy: ["context", "user", "group", "at_console"],
  selinux: [],
  servicedir: [],
  servicehelper: [],
  standard_session_servicedirs: [],
  standard_system_servicedirs: [],
  syslog: [],
  type: [],
  user: [],
};

/** Elements whose text is their value; all others have none. */
const WITH_TEXT = new Set(
  "auth include includedir limit listen pidfile servicedir servicehelper type user".split(" "),
);

/** Throws `CONFIG_MALFORMED` for a <busconfig> with attributes or text of its own. */
export function checkRoot(root: ConfigElement): void {
  checkAttributes(root, new Set());
  checkText(root);
}

/** Throws `CONFIG_MALFORMED` for an element of <busconfig> that dbus-daemon would refuse. */
export function checkElement(element: ConfigElement): void {
  const attributes = TOP_LEVEL[element.name];
  if (attributes === undefined) throw malformed(`<${element.name}> is not allowed in <busconfig>`, element);
  checkAttributes(element, new Set(attributes));
  checkText(element);
  if (element.name === "policy") checkPolicy(element);
  else if (element.name === "selinux") checkSelinux(element);
  else checkNoChildren(element);
  if (element.name === "limit") checkLimit(element);
  if (element.name === "apparmor") checkValue(element, "mode", ["required", "enabled", "disabled"]);
}

/** Reads a yes-or-no attribute; throws `CONFIG_MALFORMED` for another word. */
export function yes(element: ConfigElement, attribute: string): boolean {
  checkValue(element, attribute, ["yes", "no"]);
  return element.attributes[attribute] === "yes";
}

function checkPolicy(policy: ConfigElement): void {
  const selectors = Object.keys(policy.attributes);
  if (selectors.length !== 1)
    throw malformed("<policy> wants exactly one of context, user, group and at_console", policy);
  checkValue(policy, "context", ["default", "mandatory"]);
  checkValue(policy, "at_console", ["true", "false"]);
  for (const rule of policy.children) checkRule(rule, selectors[0] ?? "");
}

function checkRule(rule: ConfigElement, selector: string): void {
  if (rule.name !== "allow" && rule.name !== "deny")
    throw malformed(`<${rule.name}> is not allowed in <policy>`, rule);
  checkAttributes(rule, RULE_ATTRIBUTES);
  checkText(rule);
  checkNoChildren(rule);
  checkCombination(rule, selector);
  for (const name of BOOLEANS) checkValue(rule, name, ["true", "false"]);
  for (const name of ["send_type", "receive_type"]) checkValue(rule, name, MESSAGE_TYPES);
  for (const name of ["min_fds", "max_fds"])
    if (name in rule.attributes && !/^\d+$/.test(rule.attributes[name] ?? ""))
      throw malformed(`${name} wants a number`, rule);
}

function checkCombination(rule: ConfigElement, selector: string): void {
  const given = Object.keys(rule.attributes);
  const some = (names: readonly string[]) => given.some((name) => names.includes(name));
  if (given.length === 0) throw malformed(`<${rule.name}> wants an attribute`, rule);
  if (some(ALONE) && given.filter((name) => name !== "log").length > 1)
    throw malformed("own, own_prefix, user and group stand alone", rule);
  if (some(SEND) && some(RECEIVE))
    throw malformed("send_* and receive_* do not go together in one rule", rule);
  if (given.includes("send_destination") && given.includes("send_destination_prefix"))
    throw malformed("send_destination and send_destination_prefix do not go together", rule);
  if (some(["user", "group"]) && selector !== "context")
    throw malformed("user and group rules belong into a context policy", rule);
}

function checkSelinux(element: ConfigElement): void {
  for (const child of element.children) {
    if (child.name !== "associate") throw malformed(`<${child.name}> is not allowed in <selinux>`, child);
    checkAttributes(child, new Set(["own", "context"]));
    for (const name of ["own", "context"])
      if (child.attributes[name] === undefined) throw malformed(`<associate> wants ${name}`, child);
  }
}

function checkLimit(limit: ConfigElement): void {
  const { name } = limit.attributes;
  if (name === undefined) throw malformed("<limit> wants a name", limit);
  if (!LIMITS.has(name)) throw malformed(`there is no limit ${JSON.stringify(name)}`, limit);
  if (!/^\d+$/.test(limit.text)) throw malformed(`the limit ${name} wants a number`, limit);
}

function checkAttributes(element: ConfigElement, allowed: ReadonlySet<string>): void {
  const unknown = Object.keys(element.attributes).find((name) => !allowed.has(name));
  if (unknown !== undefined) throw malformed(`<${element.name}> has no attribute ${unknown}`, element);
}

function checkText(element: ConfigElement): void {
  const blank = element.text.trim() === "";
  if (WITH_TEXT.has(element.name)) {
    if (blank) throw malformed(`<${element.name}> is empty`, element);
  } else if (!blank) throw malformed(`no text is expected in <${element.name}>`, element);
}

function checkNoChildren(element: ConfigElement): void {
  const [child] = element.children;
  if (child !== undefined) throw malformed(`<${child.name}> is not allowed in <${element.name}>`, child);
}

function checkValue(element: ConfigElement, attribute: string, values: readonly string[]): void {
  const value = element.attributes[attribute];
  if (value !== undefined && !values.includes(value))
    throw malformed(`${attribute} wants ${values.join(" or ")}, not ${JSON.stringify(value)}`, element);
}
