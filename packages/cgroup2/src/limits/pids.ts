import { boundLimit } from "./limit.js";

/** pids.max, processes and threads: a fork above it fails with EAGAIN. */
export const pidsMax = boundLimit("pids", "pids.max");
