#!/usr/bin/env bash
# Every package's unit tests and the end-to-end tests. Arguments go to vitest (a path pattern, -t NAME …).
. "$(dirname "$0")/lib.sh"
[ -d node_modules ] || pnpm install --frozen-lockfile --reporter=append-only >&2
pnpm run build >&2
exec npx vitest run "$@"
