#!/usr/bin/env bash
# The main job from nothing: install, build, make a small desktop image, freeze it, fork it, judge it.
. "$(dirname "$0")/lib.sh"

[ "$(uname -s)" = Linux ] && [ "$(uname -m)" = x86_64 ] || die "this needs Linux on x86_64, not $(uname -sm)"
command -v apt-get >/dev/null || die "this needs a Debian 12 machine: apt-get is missing"
[ "$(id -u)" = 0 ] || die "this needs root: it mounts, makes namespaces and calls CRIU. Run it as root, or with sudo"

missing=$(missing_packages | paste -sd " ")
cat >&2 <<TEXT
drums demo: a real desktop from a disk image, frozen while it runs, forked into three siblings.

It will install
  with apt, into this machine:  ${missing:-nothing, all is there}
  with npm, into this folder:   the packages of pnpm-lock.yaml
  with apt, privately:          CRIU 4.2.1 and its libraries, pinned by sha256, into ${DRUMS_HOME:-/var/lib/drums}
and build an openbox desktop image (about 130 MB) there. Nothing else of this machine is changed.
TEXT

install_host_packages
step "installing npm packages"
pnpm install --frozen-lockfile --reporter=append-only >&2
step "building"
pnpm run build >&2
drums=packages/cli/dist/main.js
step "desktop image"
built=$(node "$drums" image build openbox --json)
read -r image sha256 < <(node -p 'const { path, sha256 } = JSON.parse(process.argv[1]); `${path} ${sha256}`' "$built")
step "probe: $image"
exec node "$drums" probe --image "$image" --sha256 "$sha256" --desktop openbox --siblings 3
