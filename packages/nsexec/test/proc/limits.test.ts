import { expect, test } from "vitest";
import { parseLimits, readLimits } from "../../src/proc/index.js";

const TEXT = `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max open files            1024                 1048576              files     
Max nice priority         0                    0                    
Max realtime timeout      unlimited            unlimited            us        
`;

test("limits are read by the kernel's names, unlimited as undefined", () => {
  const limits = parseLimits(TEXT);
  expect([...limits.keys()]).toHaveLength(4);
  expect(limits.get("Max open files")).toEqual({ soft: 1024n, hard: 1048576n, unit: "files" });
  expect(limits.get("Max cpu time")).toEqual({ soft: undefined, hard: undefined, unit: "seconds" });
  expect(limits.get("Max nice priority")).toEqual({ soft: 0n, hard: 0n, unit: "" });
});

test("a text without the header or with a broken line is refused", () => {
  expect(() => parseLimits("")).toThrow(expect.objectContaining({ code: "PROC_FORMAT" }));
  expect(() => parseLimits(`${TEXT}Max pipes many many\n`)).toThrow(/Max pipes/);
});

test("this process's limit on open files is a number", async () => {
  expect((await readLimits("self")).get("Max open files")?.soft).toBeGreaterThan(0n);
});
