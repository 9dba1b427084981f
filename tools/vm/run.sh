#!/usr/bin/env bash
# run.sh [--writable] [--systemd] COMMAND: boots the guest, runs the shell command there in this repository (shared
# read-only by virtiofs), prints its output and returns its status. No status within DRUMS_VM_SECONDS is a failure.
# What the command wrote to /dev/ttyS1 goes to DRUMS_VM_STATUS_FILE, where that is set.
# QEMU computes without KVM, so any machine can.
. "$(dirname "$0")/../lib.sh"
here=$top/tools/vm
access=ro init=/vm-init
while [[ ${1:-} == --* ]]; do
  case $1 in
    --writable) access=rw ;;
    --systemd) init="/usr/lib/systemd/systemd systemd.wants=vm.service systemd.mask=serial-getty@ttyS0.service" ;;
    *) die "run.sh: no option $1" ;;
  esac
  shift
done
[ $# = 1 ] || die "usage: run.sh [--writable] [--systemd] COMMAND"
[ "$(id -u)" = 0 ] || die "run.sh needs root: virtiofsd gives the guest this folder as root"

image=$(bash "$here/image.sh")
cache=$(dirname "$image")
# A run's folder is held by a lock for as long as any process of the run lives: one that nobody holds was left behind.
(
  flock 9
  for left in "$cache"/run-*; do
    # A process that is ending holds it for a moment more.
    [ ! -e "$left/lock" ] || flock --timeout 0.5 "$left/lock" rm -rf "$left" || true
  done
) 9>"$cache/lock"
work=$(mktemp -d "$cache/run-XXXXXX")
exec 8>"$work/lock"
flock 8
trap 'rm -rf "$work"' EXIT
append="console=ttyS0 quiet loglevel=1 panic=-1 root=/dev/nvme0n1 rw rootfstype=ext4 init=$init mitigations=off"
append+=" random.trust_cpu=on no_timer_check tsc=reliable vm.access=$access vm.cmd=$(printf %s "$1" | base64 -w0)"
# Both daemons live in a pid namespace that ends with this script, however it ends. Mounts are the machine's own: a copy
# of them would keep those busy that others want to take down.
export top image work append
for _ in 1 2 3; do
  setpriv --pdeathsig KILL unshare --pid --fork --kill-child=KILL \
    timeout --kill-after=5 "${DRUMS_VM_SECONDS:-900}" bash "$here/boot.sh" </dev/null || true
  clock=$(sed -n 's/^clock=\([0-9.]*\).*/\1/p' "$work/status" 2>/dev/null || true)
  [ -n "$clock" ] || break
  step "the guest's clock is wrong, as now and then on a busy machine: booting it again"
done
status=$(sed -n 's/^rc=\([0-9]*\).*/\1/p' "$work/status" 2>/dev/null || true)
[ -z "${DRUMS_VM_STATUS_FILE:-}" ] || cp "$work/status" "$DRUMS_VM_STATUS_FILE" || true
[ -n "$status" ] || { cat "$work/virtiofsd.log" >&2; die "the guest told no status within ${DRUMS_VM_SECONDS:-900} s"; }
exit "$status"
