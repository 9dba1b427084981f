export { type AuditImageOptions, auditImage, type ImageAudit } from "./audit.js";
export { type BuildImageOptions, type BuiltImage, buildImage, type RunStep } from "./build.js";
export { type CheckImageOptions, checkImage, type ImageCheck } from "./check.js";
export { type ImageRecord, imagePaths, imageRecordSchema, readImageRecord } from "./record.js";
