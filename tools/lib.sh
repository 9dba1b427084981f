# Shared by the scripts of this folder: where we are, how we speak, what we install.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top"
pnpm() { npx -y pnpm@12.4.2 "$@"; }

started=$SECONDS
step() { printf '\n[%3ds] %s\n' "$((SECONDS - started))" "$*" >&2; }
die() { printf 'drums: %s\n' "$*" >&2; exit 4; }

# The apt packages of tools/host-packages.txt (a package a line, `# why` behind it) that are not installed.
missing_packages() {
  sed 's/#.*//' "$top/tools/host-packages.txt" | tr -s ' \t' '\n' | grep -v '^$' | while read -r package; do
    dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || echo "$package"
  done
}

install_host_packages() {
  local missing
  missing=$(missing_packages | tr '\n' ' ')
  if [ -z "${missing// /}" ]; then
    step "host packages: all present"
    return
  fi
  [ "$(id -u)" = 0 ] || die "these packages are missing and only root can install them: $missing
  run as root, or: sudo apt-get install $missing"
  step "installing with apt: $missing"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}
