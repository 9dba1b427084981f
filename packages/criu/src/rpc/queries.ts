import { criu_req_type } from "../gen/rpc_pb.js";
import type { Criu } from "../install/find.js";
import { callCriu } from "./client.js";
import type { StartOptions } from "./start.js";

/** The version of a running CRIU, as it says itself: "4.2.1". */
export async function queryVersion(criu: Criu, start: StartOptions = {}): Promise<string> {
  const { version } = await callCriu(criu, { type: criu_req_type.VERSION }, { start });
  if (version === undefined) return "0";
  const { majorNumber, minorNumber, sublevel } = version;
  return [majorNumber, minorNumber, ...(sublevel > 0 ? [sublevel] : [])].join(".");
}

/** What CRIU and this kernel can do together beyond a plain dump. */
export interface CriuFeatures {
  /** Dirty page tracking: incremental dumps. */
  readonly memTrack: boolean;
  readonly lazyPages: boolean;
  readonly pidfdStore: boolean;
}

/** Asks CRIU which optional features this kernel has. */
export async function queryFeatures(criu: Criu, start: StartOptions = {}): Promise<CriuFeatures> {
  const wanted = { memTrack: true, lazyPages: true, pidfdStore: true };
  const { features } = await callCriu(
    criu,
    { type: criu_req_type.FEATURE_CHECK, features: wanted },
    { start },
  );
  return {
    memTrack: features?.memTrack ?? false,
    lazyPages: features?.lazyPages ?? false,
    pidfdStore: features?.pidfdStore ?? false,
  };
}

/** Whether CRIU itself finds that it can work on this kernel (`criu check`). */
export async function queryCheck(criu: Criu, start: StartOptions = {}): Promise<boolean> {
  const { success } = await callCriu(criu, { type: criu_req_type.CHECK }, { start });
  return success;
}
