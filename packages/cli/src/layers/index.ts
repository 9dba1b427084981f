export { type InitLayer, initLayer } from "./init.js";
export type { LayerDeb, StoredLayer } from "./store.js";
export { X_SERVER_PACKAGES, type XServerLayer, type XServerLayerOptions, xServerLayer } from "./x-server.js";
