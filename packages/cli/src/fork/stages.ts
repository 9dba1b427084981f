import type { NotifyHandler } from "@drums/criu";
import { setHostname, setPidMax } from "@drums/nsexec";
import { connectNetwork } from "../session/network.js";
import type { SessionNetwork, SessionRecord } from "../session/record.js";
import type { SessionFolder } from "../session/store.js";

/** What is done for a sibling while CRIU stands still, and what came of it. */
export interface RestoreStages {
  readonly onNotify: NotifyHandler;
  /** Of the sibling's network, once CRIU has restored it. */
  network(): SessionNetwork | undefined;
}

/**
 * What must be in place before a sibling's first program runs on: its network, while no socket of it exists, and
 * its own host name and limit on processes, when CRIU has set the checkpoint's.
 */
export function restoreStages(folder: SessionFolder, { spec }: SessionRecord): RestoreStages {
  let network: SessionNetwork | undefined;
  const publish = spec.publish.map((guestPort) => ({ guestPort }));
  return {
    network: () => network,
    onNotify: async ({ stage, pid }) => {
      if (pid === undefined) return;
      if (stage === "setup-namespaces" && spec.network === "nat")
        network = await connectNetwork(folder, { pid }, publish);
      if (stage !== "post-restore") return;
      await setHostname({ pid }, spec.hostname);
      // Of a session's limits the only one that CRIU forgets.
      if (spec.pidMax !== undefined) await setPidMax({ pid }, spec.pidMax);
    },
  };
}
