#!/usr/bin/env bash
# Makes every generated file again. CI runs it and fails when git sees a difference.
. "$(dirname "$0")/lib.sh"
pnpm --recursive --if-present run generate
