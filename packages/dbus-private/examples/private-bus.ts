/** Runs a private bus on this machine's own configuration, verifies it, and ends it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import {
  type BusReport,
  busCommand,
  flattenHostConfig,
  unixAddress,
  verifyBus,
  waitForBus,
  writeConfig,
} from "@drums/dbus-private";

export async function privateBus(folder: string): Promise<BusReport> {
  const socket = join(folder, "bus");
  const configPath = join(folder, "bus.conf");
  const flat = await flattenHostConfig("/usr/share/dbus-1/system.conf");
  await writeFile(configPath, writeConfig(flat, { address: unixAddress(socket) }));

  const [file = "", ...args] = busCommand({ configPath });
  const daemon = spawn(file, args, { stdio: "ignore" });
  try {
    const connect = async () => {
      const stream = connectSocket(socket);
      await once(stream, "connect");
      return stream;
    };
    await waitForBus(connect);
    return await verifyBus({ connect });
  } finally {
    daemon.kill();
    await once(daemon, "exit");
  }
}
