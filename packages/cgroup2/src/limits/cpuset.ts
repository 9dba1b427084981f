import { badLimit, type Limit } from "./limit.js";

/**
 * cpuset.cpus and cpuset.mems: the numbers of the processors, or of the memory nodes, that the group may use. What is in
 * force is what the groups above leave of them, so the `.effective` file is read back.
 */
export const cpusetCpus = numbersLimit("cpuset.cpus");
export const cpusetMems = numbersLimit("cpuset.mems");

function numbersLimit(file: string): Limit<readonly number[]> {
  return {
    controller: "cpuset",
    file,
    statedIn: `${file}.effective`,
    format: (numbers) => {
      if (numbers.length === 0 || !numbers.every((number) => Number.isSafeInteger(number) && number >= 0))
        throw badLimit(file, numbers, "give the numbers of at least one, each whole and from 0");
      return sorted(numbers).join(",");
    },
    parse: parseNumbers,
    holds: (asked, readBack) => sorted(asked).join() === readBack.join(),
  };
}

/** The numbers of a kernel list such as `0-2,5` (cpuset(7), "List format"). */
export function parseNumbers(text: string): number[] {
  return text
    .trim()
    .split(",")
    .filter((range) => range !== "")
    .flatMap((range) => {
      const [first = 0, last = first] = range.split("-").map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}

function sorted(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].sort((a, b) => a - b);
}
