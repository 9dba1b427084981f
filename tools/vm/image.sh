#!/usr/bin/env bash
# Builds the guest of tools/vm/run.sh, or finds it built: prints the folder that holds root.ext4 and vmlinuz.
# The folder's name is the hash of what made it; DRUMS_VM_CACHE is where it lies.
. "$(dirname "$0")/../lib.sh"
here=$top/tools/vm
cache=${DRUMS_VM_CACHE:-${TMPDIR:-/tmp}/drums-test-vm}
image=$cache/$(cat "$here"/{packages.txt,init,vm.service,image.sh} | sha256sum | cut -c1-16)
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9 # one builds, the others wait for what it makes
if [ -e "$image/root.ext4" ]; then echo "$image"; exit; fi

step "building the guest's image: $image"
rm -rf "$cache"/building-* # of a build that was killed: the lock is ours
work=$(mktemp -d "$cache/building-XXXXXX")
trap 'rm -rf "$work"' EXIT

# Trixie from the archive that this machine's own apt is configured with, reached in the same way.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mirror=$(apt-get indextargets --format '$(REPO_URI)|$(COMPONENT)' | sed -n 's,^\(.*/debian/*\)|main$,\1,p' | head -n 1)
[ -n "$mirror" ] || die "the apt configuration of this machine names no Debian archive: add one to /etc/apt/sources.list"
echo "deb [signed-by=$keyring] $mirror trixie main" >"$work/sources.list"
apt-config dump | grep -E '^Acquire::(https?::|Check-Valid-Until|Retries|ForceIPv)' >"$work/apt.conf" || true
packages=$(sed 's/#.*//' "$here/packages.txt" | tr -s ' \n' ',' | sed 's/^,//; s/,$//')

# The kernel is unpacked rather than installed: the guest boots from NVMe without an initramfs.
unpack_kernel='cd /tmp
  kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n "s/.*Depends: \(linux-image-[^ ]*\).*/\1/p" | head -n 1)
  apt-get download -qq "$kernel" && dpkg-deb -x linux-image-*.deb / && rm linux-image-*.deb && depmod $(ls /usr/lib/modules)'
(cd "$work" && UNPACK_KERNEL=$unpack_kernel DEBIAN_FRONTEND=noninteractive TMPDIR=$work \
  unshare --mount --propagation private --pid --mount-proc --fork --kill-child=KILL \
  mmdebstrap --quiet --mode=root --variant=minbase --aptopt=apt.conf --include="$packages" \
  --customize-hook='chroot "$1" sh -ec "$UNPACK_KERNEL"' \
  --customize-hook="install -m 755 $here/init \"\$1/vm-init\" && cp $here/vm.service \"\$1/etc/systemd/system\" && mkdir \"\$1/share\"" \
  trixie root sources.list) >&2
cp "$work"/root/boot/vmlinuz-* "$work/vmlinuz"
mke2fs -q -t ext4 -d "$work/root" "$work/root.ext4" 2500M >&2
rm -rf "$work/root"
mv "$work" "$image"
echo "$image"
