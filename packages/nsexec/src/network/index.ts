export { listForwards, publishPort } from "./api.js";
export { attachNat, type Nat, type NatConfinement, type NatOptions, type NatTarget } from "./attach.js";
export { NAT, natEndsByItself, natFiles, natResolvConf, PUBLISH_ADDRESS } from "./constants.js";
export { endNat } from "./end.js";
export { findNat } from "./find.js";
export { checkedPort, type PortRequest, type PublishedPort, parsePublish } from "./ports.js";
