export * from "./constants.js";
export * from "./file.js";
export * from "./loop.js";
export * from "./mount.js";
export * from "./pidfd.js";
export * from "./socket.js";
export * from "./spawn.js";
export * from "./watch.js";
