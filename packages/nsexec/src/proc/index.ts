export * from "./namespaces.js";
