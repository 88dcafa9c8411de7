import { FOLDER_MEGABYTES_MAX, ROOT_MEGABYTES_MAX } from './limits.ts';
import { PLACES } from './places.ts';

/** Private directories of the node: empty at first, whatever the machine has there. */
export const OWN_FOLDERS = [
  PLACES.kubeletRoot,
  '/var/lib/containerd',
  '/var/lib/kubediag',
  '/var/log',
  '/etc/kubernetes',
];

/** The same directories of other distributions. */
const COVERED =
  '/var/lib/k0s /var/lib/rancher /var/snap /var/lib/origin /var/lib/edged /opt/rke /etc/kubeedge';

/** Where the program is installed if the lab runs from sources. */
const SOURCES = '/usr/local/lib/kubediag';
const NODE = '/usr/local/lib/kubediag-node';

/** The prefix of a line of the script that names a missing feature of the machine. */
export const MISSING = 'missing: ';

/**
 * Runs on the machine's own root, where a symbolic link may lead anywhere. So it writes only below
 * $home, into directories that it has just created, and to the cgroup of the lab. What the node
 * needs of the machine is mounted below root/lab, and moved to its place later.
 */
const GATHER = `
# mount -n: else it leaves a directory of its own in /run of the machine.
missing() { echo "${MISSING}$1" >&2; exit 1; }
home=$1 name=$2 program=$3 sources=$4
shift 4
memory=size=${FOLDER_MEGABYTES_MAX}m
mount -n -t tmpfs -o mode=755,size=${ROOT_MEGABYTES_MAX}m lab "$home" || missing 'a filesystem in memory (tmpfs)'
# The name of its root identifies processes of the node from outside, without reading files there.
cd "$home" && mkdir upper work root && mount -n -t tmpfs -o "mode=755,$memory" "kubediag-lab-$name" root || exit 1

layer() {
  mode=$(stat -L -c %a "/$1") && mkdir -m "$mode" "root/$1" "upper/$1" && mkdir "work/$1" &&
  mount -n -t overlay overlay -o "lowerdir=/$1,upperdir=upper/$1,workdir=work/$1" "root/$1"
}
# No network filesystems: a silent server would block every process that touches them.
is_near() {
  while read -r _ at type _; do
    [ "$at" = "/$1" ] || continue
    case $type in ext?|xfs|btrfs|zfs|f2fs|bcachefs|erofs|squashfs|overlay|tmpfs) ;; *) return 1 ;; esac
  done </proc/self/mounts
}
for path in /bin /sbin /lib /lib32 /lib64 /libx32 /usr /etc /var; do
  case $(readlink "$path") in
    usr/*|/usr/*) cp -P "$path" "root$path" ;;
    *) [ ! -d "$path" ] || layer "\${path#/}" || missing "a layer in memory over $path (overlay)" ;;
  esac
done
for folder in opt root nix gnu; do
  if is_near "$folder" && [ -d "/$folder" ]; then layer "$folder"; fi
done

cd root && mkdir proc sys dev run tmp mnt home old lab lab/cgroup lab/proc || exit 1
mount -n -t proc proc proc || missing 'a /proc of its own'
mount -n -t sysfs sysfs sys || missing 'a /sys of its own'

cgroups() {
  grep -E '^[^ ]+ /sys/fs/cgroup[^ ]* cgroup2? ' /proc/self/mounts | cut -d' ' -f2
}
if [ "$(cgroups | head -n 1)" != /sys/fs/cgroup ]; then
  mount -n -t tmpfs -o mode=755,size=1m cgroups lab/cgroup || exit 1
  find /sys/fs/cgroup -maxdepth 1 -type l -exec cp -P {} lab/cgroup/ ';'
fi
for hierarchy in $(cgroups); do
  at=lab/cgroup\${hierarchy#/sys/fs/cgroup}
  [ -d "$at" ] || mkdir "$at" || exit 1
  own=$hierarchy/kubediag-lab-$name
  if mkdir -p "$own" 2>/dev/null; then
    # Version 1 gives a new cgroup no processor and no memory, and lets nobody in before it has some.
    for file in cpuset.cpus cpuset.mems; do
      if [ -e "$hierarchy/$file" ]; then cat "$hierarchy/$file" >"$own/$file"; fi
    done
    mount -n --bind "$own" "$at" || exit 1
  else mount -n --bind "$hierarchy" "$at" && mount -n -o remount,bind,ro "$at" || exit 1
  fi
done

bring() {
  if [ -d "$2" ]; then mkdir "lab/$1"; else : >"lab/$1"; fi
  mount -n --bind "$2" "lab/$1" && mount -n -o remount,bind,ro "lab/$1" || missing "$2"
}
bring program "$program"
if [ -n "$sources" ]; then bring sources "$sources"; fi
number=0
for path; do number=$((number + 1)); bring "$number" "$path"; done
if [ -e /dev/fuse ]; then fuse=yes; fi
`;

/** From here on the machine's root is gone: no link can lead out of the node. */
const LEAVE = `
pivot_root . old && cd / && umount -l /old && rmdir /old || missing 'a root of its own (pivot_root)'
`;

const SET_UP_ROOT = `
# A dangling link is replaced.
folder() {
  [ -d "$1" ] || {
    folder "$(dirname "$1")" && if [ -L "$1" ]; then rm "$1"; fi && mkdir "$1"
  }
}
put() {
  folder "$(dirname "$2")" && rm -rf "$2" || exit 1
  if [ -d "/lab/$1" ]; then mkdir "$2"; else : >"$2"; fi
  mount -n --move "/lab/$1" "$2" || missing "$2"
}

mkdir -p /boot/grub
mount -n -t tmpfs -o "mode=755,$memory" run /run && mount -n -t tmpfs -o "mode=1777,$memory" tmp /tmp || exit 1
cover() {
  if [ -d "$1" ]; then mount -n -t tmpfs -o mode=755,size=1m covered "$1" || exit 1; fi
}
for path in ${COVERED}; do cover "$path"; done
for path in ${OWN_FOLDERS.join(' ')}; do
  if [ -L "$path" ]; then cover "$path" && rm "$path" || exit 1; fi
  # To touch it is to have it in our own layer: it stays when the machine's own goes meanwhile.
  folder "$path" && chmod 755 "$path" && mount -n -t tmpfs -o "mode=755,$memory" node "$path" || exit 1
done

mount -n -t tmpfs -o mode=755,size=1m dev /dev && mkdir /dev/pts /dev/shm || exit 1
device() { mknod -m "$2" "/dev/$1" c "$3" "$4"; }
device null 666 1 3 && device zero 666 1 5 && device full 666 1 7 && device random 666 1 8 &&
  device urandom 666 1 9 && device tty 666 5 0 || missing 'the right to make devices (mknod)'
device kmsg 644 1 11
if [ -n "$fuse" ]; then device fuse 666 10 229; fi
mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /dev/pts && ln -s pts/ptmx /dev/ptmx
mount -n -t tmpfs -o "mode=1777,$memory" shm /dev/shm || exit 1
for each in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s "/proc/self/\${each#*:}" "/dev/\${each%:*}"; done

echo "$name" >/proc/sys/kernel/hostname || missing 'a host name of its own'
mount -n -t proc proc /lab/proc || exit 1
mount -n --bind /proc/sys /proc/sys && mount -n -o remount,bind,ro /proc/sys || exit 1
mount -n --bind /lab/proc/sys/net /proc/sys/net && umount /lab/proc || exit 1
if [ -e /proc/sysrq-trigger ]; then mount -n --bind /dev/null /proc/sysrq-trigger || exit 1; fi
echo 0x9 >/sys/class/net/lo/flags || missing 'a network of its own'
# Writable: a repair may have to cut off a FUSE server. It shows those of the whole machine.
mount -n -t fusectl fusectl /sys/fs/fuse/connections 2>/dev/null
mount -n -o remount,bind,ro /sys && mount -n --move /lab/cgroup /sys/fs/cgroup || exit 1

mkdir ${PLACES.lab} || exit 1
if [ -n "$sources" ]; then
  put program ${NODE} && put sources ${SOURCES} && folder "$(dirname ${PLACES.executable})" &&
    rm -rf ${PLACES.executable} || exit 1
  printf '#!/bin/sh\\nexec ${NODE} ${SOURCES}/src/main.ts "$@"\\n' >${PLACES.executable}
  chmod 755 ${PLACES.executable}
else put program ${PLACES.executable}
fi
number=0
for path; do
  number=$((number + 1))
  if [ -e "$path" ]; then umount "/lab/$number"; else put "$number" "$path"; fi
done
rm -d /lab/* && rmdir /lab || exit 1
# As systemd does: new mounts propagate to other mount namespaces.
mount -n --make-rshared / || exit 1
`;

/**
 * Shell lines for the first process of new namespaces: they create a private root in memory, so
 * that whatever happens on the node stays there. $1 is the directory of the lab on the machine,
 * which is covered only here; $2 the name of the node; $3 the program of the lab, and $4 the
 * directory of its sources if it runs from them; then the programs of the machine to run there.
 *
 * Directories with programs come from the machine, each below an overlay in memory. Directories
 * with the state of a node are covered. Devices, cgroups and sysctls belong to the whole machine:
 * the node gets only the devices that every program needs, the cgroup of the lab as its root, and
 * read-only sysctls except those of the network.
 */
export const MAKE_ROOT = [GATHER, LEAVE, SET_UP_ROOT].join('\n');
