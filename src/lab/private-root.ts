import { ROOT_MEGABYTES_MAX } from './limits.ts';
import { PLACES } from './places.ts';

/**
 * Shell lines for the first process of new namespaces: they give it a root of its own, in memory, so
 * that whatever happens on the node stays there. $1 is the folder of the lab on the machine, which is
 * covered here and nowhere else; $2 the name of the node; $3 the program of the lab, and $4 its script
 * when it runs from sources.
 *
 * The folders of the machine are there, each under a layer in memory. What a real node would keep of
 * its own is covered, so that nothing of it shines through. Devices, cgroups and settings of the
 * kernel belong to the whole machine: there are only the devices that every program needs, the cgroup
 * of the lab is the root of all, and settings can be read but, except for the network's, not changed.
 */
export const MAKE_ROOT = `
# mount -n: else it leaves a folder of its own in /run of the machine.
missing() { echo "missing: $1" >&2; exit 1; }
home=$1 name=$2
memory="mode=755,size=${ROOT_MEGABYTES_MAX}m"
mount -n -t tmpfs -o "$memory" lab "$home" || missing 'a filesystem in memory (tmpfs)'
cd "$home" || exit 1
mkdir upper work root proc
# By this name of its root whoever is on the node is known from outside, without a look inside.
mount -n -t tmpfs -o "$memory" "kubediag-lab-$name" root || missing 'a filesystem in memory (tmpfs)'

layer() {
  mode=$(stat -c %a "/$1") && mkdir -m "$mode" "root/$1" "upper/$1" && mkdir "work/$1" &&
  mount -n -t overlay overlay -o "lowerdir=/$1,upperdir=upper/$1,workdir=work/$1" "root/$1"
}
for path in /*; do
  folder=\${path#/}
  case $folder in proc|sys|dev|run|tmp|boot|lost+found|*[,:\\\\]*) continue ;; esac
  # Nothing of another machine: it may be silent, and then whoever touches it waits for ever.
  grep -q "^[^ ]* $path \\(nfs\\|cifs\\|smb\\|fuse\\|autofs\\|9p\\|ceph\\)" /proc/self/mounts && continue
  if [ -L "$path" ]; then cp -P "$path" "root/$folder"
  elif [ -d "$path" ]; then
    layer "$folder" || case $folder in
      bin|sbin|lib*|usr|etc|var) missing "a layer in memory over /$folder (overlay)" ;;
    esac
  fi
done

cd root || exit 1
mkdir -p boot/grub proc sys dev run tmp mnt
mount -n -t tmpfs -o mode=755 run run && mount -n -t tmpfs -o mode=1777 tmp tmp || exit 1
for folder in ${[PLACES.kubeletRoot, '/var/lib/containerd', '/var/lib/kubediag', '/var/log', '/etc/kubernetes'].join(' ')}; do
  # To touch it is to have it in our own layer: it stays when the machine's own goes meanwhile.
  mkdir -p ".$folder" && chmod 755 ".$folder" && mount -n -t tmpfs -o "$memory" node ".$folder" || exit 1
done
for folder in /var/lib/k0s /var/lib/rancher /var/snap /var/lib/origin /var/lib/edged /opt/rke /etc/kubeedge; do
  if [ -d ".$folder" ]; then mount -n -t tmpfs -o mode=755 covered ".$folder" || exit 1; fi
done

mount -n -t tmpfs -o mode=755 dev dev && mkdir dev/pts dev/shm || exit 1
device() { mknod -m "$2" "dev/$1" c "$3" "$4"; }
device null 666 1 3 && device zero 666 1 5 && device full 666 1 7 && device random 666 1 8 &&
  device urandom 666 1 9 && device tty 666 5 0 || missing 'the right to make devices (mknod)'
device kmsg 644 1 11
if [ -e /dev/fuse ]; then device fuse 666 10 229; fi
mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts && ln -s pts/ptmx dev/ptmx
mount -n -t tmpfs -o mode=1777 shm dev/shm
for each in fd:fd stdin:fd/0 stdout:fd/1 stderr:fd/2; do ln -s "/proc/self/\${each#*:}" "dev/\${each%:*}"; done

mount -n -t proc proc proc && mount -n -t proc proc ../proc || missing 'a /proc of its own'
echo "$name" >proc/sys/kernel/hostname || missing 'a host name of its own'
mount -n --bind proc/sys proc/sys && mount -n -o remount,bind,ro proc/sys || exit 1
mount -n --bind ../proc/sys/net proc/sys/net || exit 1
if [ -e proc/sysrq-trigger ]; then mount -n --bind dev/null proc/sysrq-trigger || exit 1; fi
mount -n -t sysfs sysfs sys || missing 'a /sys of its own'
echo 0x9 >sys/class/net/lo/flags || missing 'a network of its own'
mount -n -t fusectl fusectl sys/fs/fuse/connections 2>/dev/null

cgroups() {
  grep -E '^[^ ]+ /sys/fs/cgroup[^ ]* cgroup2? ' /proc/self/mounts | cut -d' ' -f2
}
mount -n -o remount,bind,ro sys || exit 1
if [ "$(cgroups | head -n 1)" != /sys/fs/cgroup ]; then
  mount -n -t tmpfs -o mode=755 cgroups sys/fs/cgroup
  find /sys/fs/cgroup -maxdepth 1 -type l -exec cp -P {} sys/fs/cgroup/ ';'
fi
for hierarchy in $(cgroups); do
  [ -d ".$hierarchy" ] || mkdir ".$hierarchy"
  own=$hierarchy/kubediag-lab-$name
  if mkdir -p "$own" 2>/dev/null; then
    # Version 1 gives a new cgroup no processor and no memory, and lets nobody in before it has some.
    for file in cpuset.cpus cpuset.mems; do
      if [ -e "$hierarchy/$file" ]; then cat "$hierarchy/$file" >"$own/$file"; fi
    done
    mount -n --bind "$own" ".$hierarchy" || exit 1
  else mount -n --bind "$hierarchy" ".$hierarchy" && mount -n -o remount,bind,ro ".$hierarchy" || exit 1
  fi
done

mkdir -p usr/local/bin .${PLACES.lab} && rm -f .${PLACES.executable}
if [ -n "$4" ]; then
  printf '#!/bin/sh\\nexec "%s" "%s" "$@"\\n' "$3" "$4" >.${PLACES.executable}
  chmod 755 .${PLACES.executable}
else
  : >.${PLACES.executable} && mount -n --bind "$3" .${PLACES.executable} &&
    mount -n -o remount,bind,ro .${PLACES.executable} || missing "$3"
fi

mkdir old && pivot_root . old && cd / && umount -l /old && rmdir /old || missing 'a root of its own (pivot_root)'
# As on a machine that systemd started: who has a copy of the mount table is told of new mounts.
mount -n --make-rshared / || exit 1
`;
