export { type BuildImageOptions, type BuildProgress, type BuiltImage, buildImage } from "./build.js";
export { type ImageRecord, imagePaths, imageRecordSchema, readImageRecord } from "./record.js";
