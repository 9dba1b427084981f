/** A file that a recipe puts into an image. */
export interface RecipeFile {
  /** Absolute, inside the image. */
  readonly path: string;
  readonly content: string;
  /** Default 0o644. */
  readonly mode?: number;
}

/** The account that a desktop runs as. */
export interface RecipeUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
  /** Whether it may call sudo without a password, as the tasks of agent benchmarks expect. */
  readonly sudo: boolean;
}

/** A stand-in image made from Debian's packages, as plain data: its hash names the image. */
export interface ImageRecipe {
  readonly name: string;
  /** Debian's code name; updates and security of it are used where the machine has them configured. */
  readonly suite: string;
  /** Installed on top of mmdebstrap's `minbase`, without recommended packages. */
  readonly packages: readonly string[];
  /** Folders that stay empty, also when packages are installed inside the image later (dpkg's `path-exclude`). */
  readonly emptyFolders: readonly string[];
  readonly user: RecipeUser;
  readonly files: readonly RecipeFile[];
  readonly disk: {
    readonly espMiB: number;
    readonly rootMiB: number;
    /** ext4 volume label, at most 16 bytes. */
    readonly rootLabel: string;
  };
}

/** When a program of a desktop may start: what must be there first. */
export type StartCondition = "nothing" | "display" | "window-manager";

/** A program of a desktop, started through the session's init. */
export interface DesktopProgram {
  /** Names its log, `/var/log/drums/NAME.log`. */
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly uid: number;
  readonly gid: number;
  readonly cwd: string;
  readonly startsAfter: StartCondition;
  /** `once`: runs to its end with status 0 before the next starts. `stays`: its end is a fault of the desktop. */
  readonly runs: "stays" | "once";
}

/** A folder that must exist in the session before the programs start. */
export interface DesktopFolder {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** How a desktop is started and by which rules it counts as ready, as plain data. */
export interface DesktopRecipe {
  readonly name: string;
  /** Layers put over the image's root, uppermost first, by name; see `src/layers`. */
  readonly layers: readonly "xvfb"[];
  readonly user: RecipeUser;
  readonly display: {
    /** Value of DISPLAY. */
    readonly name: string;
    readonly socket: string;
    readonly width: number;
    readonly height: number;
    readonly depth: number;
    /** XWD file that Xvfb keeps its frame buffer in. */
    readonly frameFile: string;
  };
  readonly folders: readonly DesktopFolder[];
  /** In the order in which they start; the private system bus is up before the first. */
  readonly programs: readonly DesktopProgram[];
  /** Name of the readiness rules of `@drums/readiness`. */
  readonly readinessRules: "openbox";
  /** WM_CLASS (class part) of the window that must have the keyboard when the desktop is ready. */
  readonly focusedClass: string;
}
