#!/usr/bin/env bash
# test.sh [PATTERN…]: the tests of files named *.vm.test.ts (and with systemd as PID 1 those of *.vm-systemd.test.ts)
# whose path holds one of the patterns, in the guest: one process of Node on code that was compiled outside.
# Writes its total to DRUMS_TOTAL_FILE, where that is set.
. "$(dirname "$0")/../lib.sh"
here=$top/tools/vm
shared=node_modules/.drums-vm

# What runs in the guest is brought there: it has no network and no compiler.
step "what the guest's tests need"
pnpm run build --output-logs=errors-only >&2
criu_home=${DRUMS_TEST_CRIU_HOME:-${TMPDIR:-/tmp}/drums-test-criu}
node --input-type=module -e '
  import { DEFAULT_VERSION, installCriu } from "./packages/criu/dist/index.js";
  await installCriu({ home: process.argv[1], version: DEFAULT_VERSION });' "$criu_home"
rm -rf "$shared"
mkdir -p "$shared/home"
cp -a "$criu_home/criu" "$shared/home/"
sh packages/criu/test/corpus/program/build.sh "$shared/corpus"

# A serial line ends its lines in CR LF.
total() { sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed\r*$/\1 \2/p' "$1" 2>/dev/null; }
passed=0 failed=0 ran=0
# run_kind SUFFIX [OPTION…]: one boot for the files of that suffix, where there are any.
run_kind() {
  local suffix=$1 files p=0 f=0
  shift
  files=$(node "$here/bundle.mjs" ".$suffix.test.ts" "${patterns[@]}")
  [ "$files" -gt 0 ] || return 0
  step "$files test files in the guest ($suffix)"
  ran=$((ran + files))
  local command="cp -a $shared/home /tmp/drums-test-criu; export DRUMS_MUST_WORK=1 CI=true DRUMS_TOTAL_FILE=/dev/ttyS1
    export DRUMS_CORPUS_PROGRAM=\$PWD/$shared/corpus
    ${DRUMS_RECORD:+export DRUMS_RECORD=$DRUMS_RECORD;}
    node --test-reporter=./tools/vm/reporter.mjs --test-reporter-destination=stdout $shared/tests.mjs"
  local status=0
  DRUMS_VM_STATUS_FILE=$shared/status bash "$here/run.sh" ${DRUMS_RECORD:+--writable} "$@" "$command" || status=$?
  # A boot that told no total, or a status that its total does not explain, is a failure of its own.
  read -r p f < <(total "$shared/status") || { p=0 f=0 status=1; }
  [ "$status" = 0 ] || [ "$f" -gt 0 ] || f=1
  passed=$((passed + p)) failed=$((failed + f))
}
patterns=("$@")
run_kind vm
run_kind vm-systemd --systemd
[ "$ran" -gt 0 ] || die "no test of the guest has a path that holds: $*"
[ -z "${DRUMS_TOTAL_FILE:-}" ] || echo "$passed passed, $failed failed" >"$DRUMS_TOTAL_FILE"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
