#!/usr/bin/env bash
# Every package's unit tests, the end-to-end tests and those of the guest, with one total as the last line.
# Arguments go to vitest (a path pattern, -t NAME …), and the guest is left out: `pnpm test:vm` runs it alone.
. "$(dirname "$0")/lib.sh"
[ -d node_modules ] || pnpm install --frozen-lockfile --reporter=append-only >&2
pnpm run build >&2
[ $# = 0 ] || exec npx vitest run "$@"

totals=$(mktemp -d)
trap 'rm -rf "$totals"' EXIT
status=0
DRUMS_TOTAL_FILE=$totals/host npx vitest run || status=1
DRUMS_TOTAL_FILE=$totals/guest bash tools/vm/test.sh || status=1
# A run that ended before its total is a failure that the last line shows too.
awk -v status="$status" '{ passed += $1; failed += $3 } END {
  if (NR < 2) failed += 2 - NR
  if (status != 0 && failed == 0) failed = 1
  print passed + 0 " passed, " failed + 0 " failed"
}' "$totals"/*
exit "$status"
