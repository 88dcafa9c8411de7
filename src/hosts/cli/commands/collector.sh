#!/bin/sh
# Collects what `kubediag examine` can judge, on a machine where kubediag itself cannot run.
# Plain POSIX shell: dash, busybox and old versions of bash. It writes only to a new directory.
# Every read has a time limit and a size limit; one that does not end in time is abandoned and noted.
# It touches no volume: it reads their names from the parent directory, and the tables of the kernel.
#
#   sh collector.sh [DIR]      creates DIR/kubediag-HOST-TIME and, if tar is available, its .tgz

version=2
blocks=65536 # of 512 bytes: what a single file may hold
candidates_max=16
namespaces_max=100
containers_max=200
log_lines=100000

umask 077
# Programs parse the output of the tools.
LC_ALL=C
export LC_ALL
PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:$PATH
export PATH

host=$(uname -n)
name=kubediag-$host-$(date -u +%Y%m%dT%H%M%SZ)
out=${1:-.}/$name
work=$out/.work
mkdir -p "${1:-.}" && mkdir "$out" "$work" || exit 1
left_behind=0
runs=0

say() { printf '%s\n' "$*" >&2; }

note() { printf '%s\n' "$*" >>"$out/notes.txt"; }

pause() { sleep 0.1 2>/dev/null || sleep 1; }

has() { command -v "$1" >/dev/null 2>&1; }

# The first line says what a file is. Without the line of end_file it counts as incomplete.
begin_file() { printf '# kubediag-collector %s: %s\n' "$version" "$2" >"$out/$1"; }

end_file() { printf '\n# end\n' >>"$out/$1"; }

# within NAME FILE SECONDS COMMAND...: appends the output of the command to FILE. Returns 124 after the
# time limit, otherwise the exit code of the command.
within() {
  file=$1
  target=$2
  deadline=$(($(date +%s) + $3))
  shift 3
  runs=$((runs + 1))
  mark=$work/$runs
  {
    (
      ulimit -f "$blocks"
      exec "$@"
    ) &
    child=$!
    printf '%s\n' "$child" >"$mark.pid"
    wait "$child"
    printf '%s\n' "$?" >"$mark.done"
  } >>"$target" 2>"$mark.err" </dev/null &
  runner=$!
  while [ ! -s "$mark.done" ]; do
    if [ "$(date +%s)" -ge "$deadline" ]; then
      give_up
      return 124
    fi
    pause
  done
  wait "$runner" 2>/dev/null
  return "$(cat "$mark.done")"
}

# A process that hangs on a dead mount cannot be killed, so it is abandoned.
give_up() {
  kill -9 "$(cat "$mark.pid")" "$runner" 2>/dev/null
  left_behind=$((left_behind + 1))
  note "$file: no answer in time, left behind: process $(cat "$mark.pid")"
  say "  no answer in time: $file"
}

# gather FILE SECONDS COMMAND...: like within, into a file of the output, with a note of a failure.
gather() {
  name_of=$1
  seconds=$2
  shift 2
  # A shell script would be too long for the first line.
  label=$*
  [ "$1" = sh ] && label=$name_of
  begin_file "$name_of" "$label"
  within "$name_of" "$out/$name_of" "$seconds" "$@"
  code=$?
  case $code in
  0 | 66 | 124) ;;
  *) note "$name_of: ended with $code: $(head -n 1 "$mark.err")" ;;
  esac
  return "$code"
}

# The same; a complete file gets its last line.
collect() { gather "$@" && end_file "$1"; }

# The end of a log; if that is not all of it, the file stays incomplete.
collect_log() {
  gather "$@"
  code=$?
  # A missing log is no failure.
  [ "$code" = 66 ] && rm -f "$out/$1"
  [ "$code" = 0 ] || return 0
  if [ "$(wc -l <"$out/$1")" -gt "$log_lines" ]; then
    note "$1: only its last $log_lines lines"
  else
    end_file "$1"
  fi
}

# Processes with the name of a kubelet, from /proc.
# shellcheck disable=SC2016 # what stands in single quotes is for the inner shell
named='
  for place in /proc/[0-9]*; do
    word=
    read -r word 2>/dev/null <"$place/comm" || continue
    case $word in
    kubelet | edgecore | hyperkube | kubelite | k3s | k3s-server | k3s-agent | k0s)
      printf "%s\n" "${place#/proc/}" ;;
    esac
  done
  exit 0'

# Any process can have that name, also in a pod: it must be root's and outside of all pods.
# shellcheck disable=SC2016
believed='
  me=$(tr "\000" " " <"/proc/$1/cmdline") || exit 10
  # A process without a command line is a thread of the kernel, or dead.
  [ -n "$me" ] || exit 10
  grep -q "^Uid:[[:space:]]*0[[:space:]]*0[[:space:]]*0[[:space:]]*0\$" "/proc/$1/status" || exit 11
  cgroups=$(cat "/proc/$1/cgroup") || exit 10
  printf "%s\n" "$cgroups" | grep -Eq \
    "kubepods|/k8s\.io/[0-9a-f]{64}|cri-containerd[-:][0-9a-f]|crio-[0-9a-f]|/cri-o|/isulad/" && exit 12
  there=$(readlink "/proc/$1/ns/pid") || exit 10
  [ "$there" = "$(readlink /proc/self/ns/pid)" ] || exit 13'

# Sets pid, or leaves it empty.
find_kubelet() {
  pid=
  count=0
  within 'processes' "$work/named" 10 sh -c "$named" sh
  while read -r one; do
    if [ "$count" -ge "$candidates_max" ]; then
      note "kubelet: more than $candidates_max processes have its name, the rest was passed over"
      break
    fi
    count=$((count + 1))
    within "process $one" "$work/checked" 5 sh -c "$believed" sh "$one"
    case $? in
    0)
      [ -n "$pid" ] && note "kubelet: process $one may be one, too; process $pid was taken"
      pid=${pid:-$one}
      ;;
    11) note "kubelet: process $one has its name and is not root's: passed over" ;;
    12) note "kubelet: process $one has its name and runs in a pod: passed over" ;;
    13) note "kubelet: process $one has its name in another PID namespace: passed over" ;;
    esac
  done <"$work/named"
}

root_of() { # root_of FILE: its words, each on a line
  found=/var/lib/kubelet
  while read -r word; do
    case $word in
    --root-dir=*) found=${word#--root-dir=} ;;
    --root-dir) read -r found ;;
    esac
  done <"$1"
  printf '%s\n' "$found"
}

# The program of a process is never run, because anybody could have written it. A program is run only
# from a system directory that only root can write.
# shellcheck disable=SC2016
program_of='
  path=$(readlink "/proc/$1/exe") || exit 1
  [ "$(readlink "/proc/$1/ns/mnt")" = "$(readlink /proc/self/ns/mnt)" ] || exit 1
  case $path in *[!A-Za-z0-9/._-]*) exit 1 ;; esac
  case ${path%/*} in
  /usr/bin | /usr/sbin | /usr/local/bin | /usr/local/sbin | /opt/bin) ;;
  *) exit 1 ;;
  esac
  place=$path
  while :; do
    # -rwxr-xr-x 1 0 0 ...: no link, of root, and written by no group and no other
    line=$(ls -ldn "$place") || exit 1
    # shellcheck disable=SC2086
    set -- $line
    case $1 in l* | ?????w* | ????????w*) exit 1 ;; esac
    [ "$3" = 0 ] || exit 1
    [ "$place" = / ] && break
    place=${place%/*}
    place=${place:-/}
  done
  printf "%s\n" "$path"'

ask_version() {
  if within 'kubelet-version.txt' "$work/program" 5 sh -c "$program_of" sh "$pid"; then
    collect kubelet-version.txt 10 "$(cat "$work/program")" --version
  else
    note 'kubelet-version.txt: not asked, for others than root could have written its program;' \
      'its log and its metrics have it, too'
  fi
}

fetch() { # fetch FILE URL
  if has curl; then
    collect "$1" 10 curl --silent --show-error --insecure --max-time 8 "$2"
  elif has wget; then
    collect "$1" 10 wget -q -T 8 -O - "$2"
  else
    note "$1: neither curl nor wget is here"
  fi
}

say "collecting into $out"
begin_file notes.txt notes.txt
collect about.txt 5 uname -a

find_kubelet
if [ -n "$pid" ]; then
  root=/var/lib/kubelet
  # shellcheck disable=SC2016
  collect kubelet-cmdline.txt 5 sh -c 'tr "\000" "\n" <"/proc/$1/cmdline"' sh "$pid" &&
    root=$(root_of "$out/kubelet-cmdline.txt")
  ask_version
  # shellcheck disable=SC2016
  collect working-folder.txt 10 sh -c '
    printf "%s:\n" "$(readlink "/proc/$1/cwd")"
    exec ls -la "/proc/$1/cwd/"' sh "$pid"
  # shellcheck disable=SC2016
  collect kubelet-threads.txt 10 sh -c '
    for task in "/proc/$1/task"/*; do
      printf "%s\n" "--- $task"
      for table in comm wchan syscall; do
        printf "%s: " "$table"
        cat "$task/$table" 2>/dev/null
        printf "\n"
      done
      grep -E "^(State|Pid):" "$task/status" 2>/dev/null
    done
    exit 0' sh "$pid"
else
  pid=1
  root=/var/lib/kubelet
  note 'mountinfo.txt: no kubelet runs: the mounts are those of process 1'
fi

collect mountinfo.txt 10 cat "/proc/$pid/mountinfo"

# One process of each other mount namespace that knows the kubelet's pods.
# shellcheck disable=SC2016
others='
  seen=" $(readlink "/proc/$1/ns/mnt") "
  for place in /proc/[0-9]*; do
    printf "%s\n" "${place#/proc/}" >"$2"
    there=$(readlink "$place/ns/mnt" 2>/dev/null) || continue
    case $seen in *" $there "*) continue ;; esac
    seen="$seen$there "
    grep -q /pods/ "$place/mountinfo" 2>/dev/null || continue
    printf "%s\n" "${place#/proc/}"
  done
  exit 0'
within 'mount namespaces' "$work/others" 30 sh -c "$others" sh "$pid" "$work/at"
[ $? = 124 ] && note "mount namespaces: those behind process $(cat "$work/at") were not read"
count=0
while read -r one; do
  if [ "$count" -ge "$namespaces_max" ]; then
    note "mount namespaces: more than $namespaces_max, the rest was left out"
    break
  fi
  count=$((count + 1))
  collect "mountinfo-$one.txt" 5 cat "/proc/$one/mountinfo"
done <"$work/others"

# Only names, by the shell itself: a tool that reads file types would hang on a dead mount.
# shellcheck disable=SC2016
collect volumes.txt 20 sh -c '
  for path in "$1"/pods/*/volumes/*/*; do
    case $path in *"/*") continue ;; esac
    printf "%s\n" "$path"
  done
  exit 0' sh "$root"

# A missing entry is a result too, and is written to the error output.
collect root-links.txt 5 sh -c 'ls -ld /bin /sbin /lib /usr/bin 2>&1
  exit 0' sh

if has journalctl; then
  collect_log kubelet-log.txt 60 journalctl --no-pager -n "$((log_lines + 1))" -o short-iso \
    _COMM=kubelet + _COMM=edgecore + _COMM=k3s-server + _COMM=k3s-agent
fi
for path in /var/log/kubelet.INFO /var/log/kubelet.log /var/log/kubernetes/kubelet.INFO \
  /var/log/edgecore.log /var/log/kubeedge/edgecore.log; do
  # shellcheck disable=SC2016
  collect_log "log-$(printf '%s' "${path#/var/log/}" | tr / -).txt" 30 sh -c '
    [ -f "$1" ] || exit 66
    exec tail -n "$2" "$1"' sh "$path" "$((log_lines + 1))"
done
has dmesg && collect dmesg.txt 10 dmesg

fetch healthz.txt http://127.0.0.1:10255/healthz
fetch pods.txt http://127.0.0.1:10255/pods
fetch metrics.txt http://127.0.0.1:10255/metrics

if has crictl; then
  collect runtime-version.txt 10 crictl version
  collect containers.txt 20 crictl ps -a -o json
  collect sandboxes.txt 20 crictl pods -o json
  count=0
  # shellcheck disable=SC2013 # an id has no spaces
  for id in $(sed -n 's/^ *"id": "\([0-9a-f]\{12,\}\)",*$/\1/p' "$out/containers.txt"); do
    if [ "$count" -ge "$containers_max" ]; then
      note "containers.txt: more than $containers_max, the rest was not inspected"
      break
    fi
    count=$((count + 1))
    # Without verbose fields: they contain the environment of the container, and so passwords.
    collect "container-$id.txt" 10 crictl inspect -q "$id"
  done
else
  note 'containers.txt: crictl is not here: the container runtime was not asked'
fi

end_file notes.txt
rm -rf "$work"
say
say "$out contains, without redaction:"
say "  the mount tables, the names of all volumes, the entries of the kubelet's working directory"
say "  its log, command line and threads; the kernel log"
say "  pods.txt, if the read-only port answered: complete pods with their environment variables"
say "  containers and sandboxes with their labels and annotations"
say "Check it before you share it. What could not be read is in notes.txt."
[ "$left_behind" -gt 0 ] && say "abandoned: $left_behind processes that hang"
# Only a new file: another user of this directory could have created a link or a pipe there.
is_new() { [ ! -e "$1" ] && [ ! -L "$1" ] && (set -C && : >"$1") 2>/dev/null; }
if has tar && is_new "$out.tgz" && tar -cf - -C "${1:-.}" "$name" 2>/dev/null | gzip >"$out.tgz"; then
  say "packed: $out.tgz"
fi
say
say "To judge it, on any machine that has kubediag: kubediag examine $out"
