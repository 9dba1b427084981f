import type { DesktopProfile } from "./types.js";

/**
 * GNOME Shell. Without a RandR monitor its screen stays black for ever while every process lives and the
 * log says that it started.
 */
export const gnome: DesktopProfile = {
  name: "gnome",
  paintsItself: true,
  matches: ({ windowManager }) => /^(gnome shell|mutter)/i.test(windowManager?.name ?? ""),
  checks: ({ source, monitors, extensions }) => [
    {
      name: "GNOME has a RandR monitor",
      ok: source === "text" ? "unknown" : (monitors?.length ?? 0) > 0,
      detail: monitorDetail(monitors?.length, extensions),
      failure: {
        verdict: "no-monitor",
        remedy: "start the X server with +extension RANDR; GNOME paints nothing without a monitor",
      },
    },
  ],
};

function monitorDetail(count: number | undefined, extensions: readonly string[] | undefined): string {
  if (count !== undefined) return `RandR has ${count} monitors`;
  if (extensions === undefined) return "nobody asked for monitors";
  return extensions.includes("RANDR") ? "RandR is older than 1.5" : "the server has no RandR";
}
