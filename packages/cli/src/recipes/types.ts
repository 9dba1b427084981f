/** A file that a recipe puts into an image. */
export interface RecipeFile {
  /** Absolute, inside the image. */
  readonly path: string;
  readonly content: string;
  /** Default 0o644. */
  readonly mode?: number;
  /** `user`: it and the folders made for it belong to the image's user. Default root. */
  readonly owner?: "user";
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
  /** Programs run in the root at the end, one after another, as those that compile what `files` brought. Default none. */
  readonly finish?: readonly (readonly [string, ...string[]])[];
  readonly disk: {
    readonly espMiB: number;
    readonly rootMiB: number;
    /** ext4 volume label, at most 16 bytes. */
    readonly rootLabel: string;
  };
}

/**
 * What a program of a desktop may have to wait for: the X server answers; a window manager is done starting; the
 * session bus greets.
 */
export type StartCondition = "display" | "window-manager" | "session-bus";

/** How a program is called in an image that has a certain file. */
export interface ProgramVariant {
  /** Absolute, inside the image. */
  readonly whereFile: string;
  readonly argv: readonly [string, ...string[]];
  /** Added to the program's environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** A program of a desktop, started through the session's init. */
export interface DesktopProgram {
  /** Names its log, `/var/log/drums/NAME.log`. */
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** The first whose file the image has takes the place of `argv`. Default none. */
  readonly variants?: readonly ProgramVariant[];
  readonly uid: number;
  readonly gid: number;
  readonly cwd: string;
  /** All of these; empty: at once. */
  readonly startsAfter: readonly StartCondition[];
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

/** A window that is waited for. */
export interface WindowRecipe {
  /** WM_CLASS, class part, word for word. */
  readonly class: string;
  /** Whether it must have the keyboard. */
  readonly focused: boolean;
}

/** What a probe does in an application; see `src/probe/tasks`. */
export type TaskName = "terminal" | "writer" | "browser";

/** A program that a probe types into, and the window that it is known by. */
export interface ApplicationRecipe {
  readonly name: string;
  /** Absent where the desktop's own programs open it. */
  readonly argv?: readonly [string, ...string[]];
  /** Written into the session, as its user, before the application is opened. Default none. */
  readonly files?: readonly SessionFile[];
  readonly window: WindowRecipe;
  /** Name of the process, as /proc/PID/comm has it, that owns the window. */
  readonly process: string;
  readonly task: TaskName;
}

/** The size of a screen, in pixels; it is of 24 bit. */
export interface Screen {
  readonly width: number;
  readonly height: number;
}

/** The X servers that there is a layer for. */
export type XServerName = "xvfb" | "xorg-dummy";

/** A file written into a session by a program of its own. */
export type SessionFile = Pick<RecipeFile, "path" | "content">;

/** An X server that makes a screen up, and what it needs in a session. */
export interface XServerRecipe {
  readonly name: XServerName;
  /** Absolute path of what its layer brings. */
  readonly program: string;
  readonly argv: (screen: Screen) => readonly [string, ...string[]];
  readonly folders: readonly DesktopFolder[];
  /** Written before it starts. Default none. */
  readonly files?: (screen: Screen) => readonly SessionFile[];
  /** XWD file that it keeps its frame buffer in; without one the screen is asked of it over X. */
  readonly frameFile?: string;
}

/** What a session's screen is made up by, and its size. */
export interface ScreenRequest {
  /** Default 1280×800. */
  readonly screen?: Screen | undefined;
  /** Default `xvfb`. */
  readonly xServer?: XServerName | undefined;
}

/** A desktop as its own recipe has it: what it stands on is chosen for each session. */
export type DesktopWithoutScreen = Omit<DesktopRecipe, "xServer" | "display" | "files">;

/** How a desktop is started and when it counts as ready, as plain data. */
export interface DesktopRecipe {
  readonly name: string;
  readonly user: RecipeUser;
  readonly xServer: XServerRecipe;
  readonly display: Screen & {
    /** Value of DISPLAY. */
    readonly name: string;
    readonly socket: string;
  };
  /** Socket of the user's session bus, for a desktop that has one. */
  readonly sessionBus?: string;
  readonly folders: readonly DesktopFolder[];
  /** Written, as root's, once the folders are there. */
  readonly files: readonly SessionFile[];
  /** In the order in which they start; the private system bus is up before the first. */
  readonly programs: readonly DesktopProgram[];
  /** Rules of `@drums/readiness` by which it is usable. `gnome` asks the session bus too, and leaves the Overview. */
  readonly rules: "default" | "gnome";
  /** What must be on the screen beside what `@drums/readiness` asks of every desktop. Default nothing. */
  readonly window?: WindowRecipe;
  /** What a probe can type into; the first where none is named. */
  readonly applications: readonly [ApplicationRecipe, ...ApplicationRecipe[]];
  /** The whole environment of applications. */
  readonly env: Readonly<Record<string, string>>;
}
