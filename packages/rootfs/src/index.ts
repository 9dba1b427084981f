/**
 * @packageDocumentation
 * From a disk image file to a root that can be trusted: pinned by sha256, its headers and tables checked
 * number by number, mounted read-only without a virtual machine, stacked with layers into an overlay, and
 * taken down again whatever happened in between.
 */

export { auditDesktop, type DesktopAudit, type DesktopAuditOptions } from "./audit/desktop.js";
export { type ElfFile, parseElf, readElf } from "./audit/elf.js";
export type { AuditFinding } from "./audit/finding.js";
export * from "./audit/libraries.js";
export { auditLayerLinks, auditMergedUsr } from "./audit/links.js";
export { type CacheEntry, parseLoaderCache, readLoaderCache } from "./audit/loader-cache.js";
export type { LoadedLibrary, MissingLibrary, Route } from "./audit/loader-search.js";
export { type InstalledPackage, parseControl, readPackages } from "./audit/packages.js";
export { auditPrivileged, type PrivilegedFile } from "./audit/privileged.js";
export { type Processor, readProcessor } from "./audit/processor.js";
export { auditSessions, type DesktopSession } from "./audit/sessions.js";
export { ByteSource } from "./byte-source.js";
export * from "./errors.js";
export * from "./image/digest.js";
export * from "./image/inspect.js";
export * from "./image/partitions.js";
export {
  assertUsableQcow2,
  parseQcow2Header,
  type Qcow2Header,
  type Qcow2Limits,
  readQcow2Header,
} from "./image/qcow2.js";
export { type Qcow2Bitmap, readQcow2Bitmaps } from "./image/qcow2-bitmaps.js";
export { checkQcow2Extents, type Qcow2Extents } from "./image/qcow2-extents.js";
export { type Qcow2Snapshot, readQcow2Snapshots } from "./image/qcow2-snapshots.js";
export { bufferReader, fileReader, type ReadAt } from "./image/reader.js";
export * from "./image/root-partition.js";
export { describeImage, type ImageFormat, type ImageSource, type SourceOptions } from "./image/source.js";
export { type Filesystem, type FilesystemKind, recogniseFilesystem } from "./image/superblocks.js";
export { type DebLayerOptions, type PinnedDeb, unpackDebLayer } from "./layers/deb.js";
export {
  type DependencyOptions,
  findMissingDependencies,
  type MissingDependency,
} from "./layers/dependencies.js";
export { digestLayer, type Layer } from "./layers/digest.js";
export { type FolderLayerOptions, folderLayer, type LayerEntry } from "./layers/folder.js";
export {
  type PinnedWheel,
  type PythonLayer,
  type PythonLayerOptions,
  pythonLayer,
} from "./layers/python.js";
export { type StampOptions, stampLayer } from "./layers/stamp.js";
export { checkRoot } from "./mount/check.js";
export { type Collection, type CollectOptions, collectRoots } from "./mount/collect.js";
export type { Journal, Resource } from "./mount/journal.js";
export { type MountRootOptions, mountRoot } from "./mount/mount-root.js";
export type { MountedPartition, MountedRoot, RootFacts } from "./mount/mounted-root.js";
export type { Way } from "./mount/record.js";
export { listRoots, type ReleaseOptions, releaseRoot, type StateOptions } from "./mount/references.js";
export { type LoopDevice, type LoopRequest, type RootSystem, realSystem } from "./mount/system.js";
export type { PassedOver } from "./mount/ways.js";
export { describeLayers, type LayerDescription } from "./overlay/layers.js";
export { type MountOverlayOptions, mountOverlay } from "./overlay/mount.js";
export * from "./overlay/options.js";
export * from "./overlay/sized.js";
export * from "./overlay/upper.js";
export * from "./overlay/verify.js";
export * from "./preflight.js";
export { type Resolution, type ResolveOptions, resolveInRoot } from "./resolve.js";
export { type TreeEntry, walkTree } from "./walk.js";
