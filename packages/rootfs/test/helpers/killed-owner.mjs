// Mounts or gives up a root, as an owner that is killed at a certain call on the machine. By its last argument:
// { act, options, calls, moment }. Writes the name of each call before it is made.
import { writeSync } from "node:fs";
import { mountRoot, realSystem, releaseRoot } from "@drums/rootfs";

const { act, options, calls, moment } = JSON.parse(process.argv.at(-1));
let left = calls;

const system = new Proxy(realSystem, {
  get(target, name) {
    const call = target[name];
    // These two only look.
    if (name === "exists" || name === "onPath") return call;
    return async (...values) => {
      left -= 1;
      writeSync(1, `${name}\n`);
      const result = call(...values);
      // A program is then just started, what is one system call is done.
      if (left === 0 && moment === "during") process.kill(process.pid, "SIGKILL");
      const finished = await result;
      if (left === 0) process.kill(process.pid, "SIGKILL");
      return finished;
    };
  },
});

await { mount: mountRoot, release: releaseRoot }[act]({ ...options, system });
