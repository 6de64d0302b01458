#!/bin/sh
# Runs a program in a private root that contains only the files it was given. Expects to be process 1
# of new user, mount, network and PID namespaces, which is how cage.ts starts it.
#
#   cage.sh ROOT CWD MAX_FILE_KIB MAX_CPU_SECONDS READABLE... -- WRITABLE... -- COMMAND [ARGUMENT...]
#
# ROOT is an empty folder in which the root is built. Paths keep their names inside it. The program does
# not become process 1, because process 1 cannot kill itself, which the media child does when it ends.
set -eu

root=$1 cwd=$2 max_file_kib=$3 max_cpu_seconds=$4
shift 4
umount=$(command -v umount)

place() {
  if [ -L "$1" ]; then
    mkdir -p "$root$(dirname "$1")"
    ln -s "$(readlink "$1")" "$root$1"
    return 1
  fi
  [ -e "$1" ] || return 1
  if [ -d "$1" ]; then
    mkdir -p "$root$1"
  else
    mkdir -p "$root$(dirname "$1")"
    : >"$root$1"
  fi
  mount --rbind "$1" "$root$1"
}

mount -t tmpfs -o size=16m,mode=755 tmpfs "$root"
mkdir "$root/proc" "$root/tmp" "$root/.old"
mount -t proc proc "$root/proc"
for device in /dev/null /dev/zero /dev/random /dev/urandom; do
  place "$device"
done
for path in /lib /lib32 /lib64 /usr/lib /usr/lib32 /usr/lib64 /etc/ld.so.cache; do
  if place "$path"; then mount -o remount,bind,ro "$root$path"; fi
done
while [ "$1" != -- ]; do
  if place "$1"; then mount -o remount,bind,ro "$root$1"; fi
  shift
done
shift
while [ "$1" != -- ]; do
  place "$1"
  shift
done
shift

cd "$root"
pivot_root . .old
"/.old$umount" -l /.old
cd "$cwd"
ulimit -c 0
ulimit -n 512
ulimit -f $((max_file_kib * 2))
ulimit -t "$max_cpu_seconds"
"$@"
exit $?
