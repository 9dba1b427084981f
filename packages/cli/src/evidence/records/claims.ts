import { z } from "zod";
import { record } from "./common.js";

/** What a claim came to. */
export const claimStatus = z.enum(["established", "failed", "not reached", "unknown"]);

/** One sentence with its status, what speaks for or against it, and the records that it rests on. */
export const claimSchema = z.object({
  id: z.string(),
  sentence: z.string(),
  status: claimStatus,
  reasons: z.array(z.string()),
  records: z.array(z.string()),
});
export type Claim = z.infer<typeof claimSchema>;

/** A difference between the session and the image's own machine. */
export const parityGapSchema = z.object({
  topic: z.string(),
  status: z.enum(["same", "differs", "unknown"]),
  image: z.string(),
  session: z.string(),
});
export type ParityGap = z.infer<typeof parityGapSchema>;

/** claims.json: the verdicts of an attempt as they were computed when it was sealed. */
export const claimsRecord = record({
  drums: z.string(),
  claims: z.array(claimSchema),
  parity: z.array(parityGapSchema),
});
