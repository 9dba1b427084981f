export { type InitLayer, initLayer } from "./init.js";
export type { LayerDeb, StoredLayer } from "./store.js";
export { XVFB_PACKAGES, type XvfbLayer, type XvfbLayerOptions, xvfbLayer } from "./xvfb.js";
