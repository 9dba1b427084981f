#!/usr/bin/env bash
# Packs every package, installs each tarball into an empty project, imports it and checks its types.
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for folder in packages/*/; do
  (cd "$folder" && pnpm pack --pack-destination "$work" >/dev/null)
done

for folder in packages/*/; do
  name=$(node -p "require('./${folder}package.json').name")
  step "a clean project imports $name"
  project=$work/project-$(basename "$folder")
  mkdir "$project"
  node tools/clean-project.mjs "$name" "$work" "$project"
  (cd "$project" && npm install --no-audit --no-fund --loglevel=error && node import.mjs && npx tsc -p .)
done
