#!/usr/bin/env bash
# Builds both native parts into build/Release: nsexec.node (the addon) and drums-init (a static program).
set -euo pipefail
cd "$(dirname "$0")/.."

build_addon() {
  # pnpm hides npm's own nodedir, and node-gyp would then try to download the headers.
  local prefix nodedir=()
  prefix="$(node -p 'require("node:path").dirname(require("node:path").dirname(process.execPath))')"
  if [[ -f "$prefix/include/node/node_api.h" ]]; then nodedir=("--nodedir=$prefix"); fi
  # binding.gyp lies here and not beside package.json: there an install would build it unasked, before anybody
  # was told that a compiler is needed.
  PATH="$PWD/node_modules/.bin:$PATH" node-gyp -C native configure build --silent --jobs=max "${nodedir[@]}"
  mkdir -p build/Release
  cp native/build/Release/nsexec.node build/Release/nsexec.node.new
  mv -f build/Release/nsexec.node.new build/Release/nsexec.node
}

# Static, because it is executed inside images whose libc is older than the host's.
build_init() {
  shopt -s nullglob
  local sources=(native/init/*.c)
  shopt -u nullglob
  if ((${#sources[@]} == 0)); then return; fi
  local compiler="${CC:-cc}" fresh="build/Release/drums-init.new"
  mkdir -p build/Release
  "$compiler" -static -O2 -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -Werror -o "$fresh" "${sources[@]}"
  strip "$fresh"
  mv -f "$fresh" build/Release/drums-init
}

case "${1:-all}" in
  addon) build_addon ;;
  init) build_init ;;
  all) build_addon && build_init ;;
  *) echo "usage: native/build.sh [all|addon|init]" >&2; exit 2 ;;
esac
