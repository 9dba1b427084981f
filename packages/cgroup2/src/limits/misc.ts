import {
  type Bound,
  badLimit,
  formatBound,
  isRoundedDown,
  type Limit,
  parseBound,
  valueOfKey,
} from "./limit.js";

/** misc.max of one resource that misc.capacity of the root lists, such as `sev`: a count. */
export function miscMax(resource: string): Limit<Bound> {
  if (!/^[a-z_]+$/.test(resource))
    throw badLimit("misc.max", resource, "name a resource that misc.capacity of the root lists");
  return {
    controller: "misc",
    file: "misc.max",
    format: (value) => `${resource} ${formatBound(value, "misc.max")}`,
    parse: (text) => parseBound(valueOfKey(text, resource) ?? "max"),
    holds: (asked, readBack) => isRoundedDown(asked, readBack),
  };
}
