import type { Screen, XServerRecipe } from "../types.js";

const CONFIG = "/etc/X11/drums-dummy.conf";

/**
 * The server that a real machine runs, on the driver that draws into memory. It has no picture file. As the desktop's
 * user it opens no console (the driver asks for none), finds no devices by udev and takes keys by XTEST alone.
 */
export const xorgDummy: XServerRecipe = {
  name: "xorg-dummy",
  program: "/usr/bin/Xorg",
  folders: [],
  files: (screen) => [{ path: CONFIG, content: configOf(screen) }],
  argv: () => [
    "/usr/lib/xorg/Xorg",
    ":0",
    ...["-config", CONFIG, "-logfile", "/tmp/Xorg.0.log"],
    ...["-nolisten", "tcp", "-ac", "-noreset"],
    ...["+extension", "GLX", "+extension", "RANDR", "+extension", "RENDER", "+extension", "COMPOSITE"],
    ...["-dpi", "96"],
  ],
};

/**
 * xorg.conf(5). Two frames' worth of memory; on the driver's first output a mode of just the screen's size, whose
 * timing nothing displays, preferred to those that every server knows: GNOME takes the preferred one.
 */
function configOf({ width, height }: Screen): string {
  return `Section "ServerFlags"
  Option "AutoAddDevices" "false"
  Option "AutoAddGPU" "false"
  Option "DontVTSwitch" "true"
  Option "BlankTime" "0"
  Option "StandbyTime" "0"
  Option "SuspendTime" "0"
  Option "OffTime" "0"
EndSection
Section "Device"
  Identifier "memory"
  Driver "dummy"
  Option "Monitor-DUMMY0" "monitor"
  VideoRam ${Math.ceil((width * height * 4 * 2) / 1024)}
EndSection
Section "Monitor"
  Identifier "monitor"
  HorizSync 1-2000
  VertRefresh 1-200
  ${modeline({ width, height })}
  Option "PreferredMode" "${width}x${height}"
EndSection
Section "Screen"
  Identifier "screen"
  Device "memory"
  Monitor "monitor"
  DefaultDepth 24
  SubSection "Display"
    Depth 24
    Modes "${width}x${height}"
    Virtual ${width} ${height}
  EndSubSection
EndSection
`;
}

/** 60 pictures a second, with the blanking that VESA's reduced timing has. */
function modeline({ width, height }: Screen): string {
  const [columns, rows] = [width + 160, height + 30];
  const clock = ((columns * rows * 60) / 1e6).toFixed(2);
  const across = `${width} ${width + 48} ${width + 80} ${columns}`;
  const down = `${height} ${height + 3} ${height + 9} ${rows}`;
  return `Modeline "${width}x${height}" ${clock} ${across} ${down}`;
}
