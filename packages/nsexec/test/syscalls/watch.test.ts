import { execFile } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { packageRoot } from "../../src/package-root.js";
import {
  pidfdOpen,
  pidfdWait,
  receivePacket,
  sendPacket,
  socketpairSeqpacket,
  watchFd,
} from "../../src/syscalls/index.js";

test("a watch calls back for what is there and for the peer's end, until closed", async () => {
  const [near, far] = socketpairSeqpacket();
  const seen: string[] = [];
  await new Promise<void>((resolve) => {
    const watch = watchFd(near, () => {
      const packet = receivePacket(near);
      seen.push(packet?.data.toString() ?? "nothing");
      if (packet?.data.length === 0) {
        watch.close();
        watch.close();
        resolve();
      }
    });
    sendPacket(far, Buffer.from("a"));
    sendPacket(far, Buffer.from("b"));
    closeSync(far);
  });
  closeSync(near);
  expect(seen).toEqual(["a", "b", ""]);
});

test("a regular file cannot be watched, and says so", () => {
  const fd = openSync(new URL(import.meta.url).pathname, "r");
  expect(() => watchFd(fd, () => {})).toThrow(
    expect.objectContaining({ code: "EPERM", syscall: "epoll_ctl" }),
  );
  closeSync(fd);
});

test("a process that is not our child is waited for without a status", async () => {
  const sleeper = execFile("sh", ["-c", "sleep 1000 & echo $!"]);
  const pid = await new Promise<number>((resolve) =>
    sleeper.stdout?.once("data", (text) => resolve(Number(text))),
  );
  const pidfd = pidfdOpen(pid);
  process.kill(pid, "SIGKILL");
  expect(await pidfdWait(pidfd)).toBeUndefined();
  closeSync(pidfd);
});

const ADDON = `require(${JSON.stringify(`${packageRoot()}/build/Release/nsexec.node`)})`;

test("a worker that ends with a watch open takes it along", async () => {
  const worker = new Worker(
    `const { Watch, socketpair } = ${ADDON};
     new Watch(socketpair(5)[0], () => {});
     require("node:worker_threads").parentPort.postMessage("watching");`,
    { eval: true },
  );
  await new Promise((resolve) => worker.once("message", resolve));
  expect(await worker.terminate()).toBe(1);
});

test("a watch without a reference lets Node exit, and an error in a callback is not lost", async () => {
  const run = promisify(execFile);
  const start = `const { Watch, socketpair, sendPacket } = ${ADDON}; const [a, b] = socketpair(5);`;
  await run(process.execPath, ["-e", `${start} new Watch(a, () => {}).unref();`]);
  const failing = `${start} new Watch(a, () => { throw new Error("from the callback"); }); sendPacket(b, Buffer.from("x"), []);`;
  await expect(run(process.execPath, ["-e", failing])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("from the callback"),
  });
});
