# Called by run.sh alone, in a pid namespace of its own: the share's daemon, then the machine until it powers off.
set -euo pipefail
: "${top:?}" "${image:?}" "${work:?}" "${append:?}"
/usr/lib/qemu/virtiofsd --socket-path="$work/share" -o source="$top" -o sandbox=chroot -o cache=auto \
  --rlimit-nofile=0 >"$work/virtiofsd.log" 2>&1 &
for _ in $(seq 200); do [ -S "$work/share" ] && break; sleep 0.05; done
# One thread for both processors: with one each, QEMU now and then runs into an instruction that the guest is changing
# (a static branch of its kernel), and the guest's kernel dies of an int3.
exec qemu-system-x86_64 -accel tcg,thread=single -machine q35 -cpu max -smp 2 -m 2048 \
  -display none -nodefaults -no-reboot -serial stdio -serial "file:$work/status" \
  -kernel "$image/vmlinuz" -append "$append" \
  -drive "file=$image/root.ext4,if=none,id=d0,format=raw,snapshot=on" -device nvme,drive=d0,serial=root \
  -object memory-backend-memfd,id=mem,size=2048M,share=on -numa node,memdev=mem \
  -chardev "socket,id=c0,path=$work/share" -device vhost-user-fs-pci,chardev=c0,tag=share
