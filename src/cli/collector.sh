#!/bin/sh
# Gathers what `kubediag examine` can judge, on a machine on which kubediag itself cannot start.
# Plain POSIX shell: dash, busybox and old bashes do. It changes nothing but the folder that it makes.
# Every read has a deadline and a size; what does not answer in time is left behind, and told.
# It touches no volume: of these it reads names from their parents, and the tables of the kernel.
#
#   sh collector.sh [FOLDER]      makes FOLDER/kubediag-HOST-TIME and, where tar is, its .tgz

version=1
blocks=65536 # of 512 bytes: what a single file may hold
namespaces_max=100
containers_max=200
log_lines=100000

umask 077
# The words of tools are read by programs.
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH

host=$(uname -n)
name=kubediag-$host-$(date -u +%Y%m%dT%H%M%SZ)
out=${1:-.}/$name
work=$out/.work
mkdir -p "${1:-.}" && mkdir "$out" "$work" || exit 1
left_behind=0

say() { printf '%s\n' "$*" >&2; }

pause() { sleep 0.1 2>/dev/null || sleep 1; }

has() { command -v "$1" >/dev/null 2>&1; }

# collect FILE SECONDS COMMAND...: what the command prints, or as much as comes within the time.
collect() {
  file=$1
  deadline=$(($(date +%s) + $2))
  shift 2
  mark=$work/$(printf '%s' "$file" | tr '/' '_')
  # What is a script of its own would fill the first line, and more.
  label=$*
  [ "$1" = sh ] && label=$file
  {
    printf '# kubediag-collector %s: %s\n' "$version" "$label"
    (
      ulimit -f "$blocks"
      exec "$@"
    ) &
    child=$!
    printf '%s\n' "$child" >"$mark.pid"
    wait "$child"
    printf '%s\n' "$?" >"$mark.done"
  } >"$out/$file" 2>"$mark.err" </dev/null &
  runner=$!
  while [ ! -s "$mark.done" ]; do
    if [ "$(date +%s)" -ge "$deadline" ]; then
      give_up
      return 1
    fi
    pause
  done
  wait "$runner" 2>/dev/null
  code=$(cat "$mark.done")
  [ "$code" = 0 ] && return 0
  printf '%s: ended with %s: %s\n' "$file" "$code" "$(head -n 1 "$mark.err")" >>"$out/notes.txt"
  return "$code"
}

# A process in the hands of a dead mount cannot be killed; nobody waits for it.
give_up() {
  kill -9 "$(cat "$mark.pid")" "$runner" 2>/dev/null
  left_behind=$((left_behind + 1))
  printf '%s: no answer in time, left behind: process %s\n' "$file" "$(cat "$mark.pid")" \
    >>"$out/notes.txt"
  say "  no answer in time: $file"
}

# The kubelet, by the name of its process; the tables of /proc never wait for it.
kubelet_pid() {
  for place in /proc/[0-9]*; do
    word=
    read -r word 2>/dev/null <"$place/comm" || continue
    case $word in
    kubelet | edgecore | hyperkube | kubelite | k3s | k3s-server | k3s-agent | k0s)
      # A process without a command line is a thread of the kernel, or dead.
      if [ -n "$(tr '\000' ' ' <"$place/cmdline" 2>/dev/null)" ]; then
        printf '%s\n' "${place#/proc/}"
        return 0
      fi
      ;;
    esac
  done
  return 1
}

root_of() {
  tr '\000' '\n' <"/proc/$1/cmdline" | {
    found=/var/lib/kubelet
    while read -r word; do
      case $word in
      --root-dir=*) found=${word#--root-dir=} ;;
      --root-dir) read -r found ;;
      esac
    done
    printf '%s\n' "$found"
  }
}

fetch() { # fetch FILE URL
  if has curl; then
    collect "$1" 10 curl --silent --show-error --insecure --max-time 8 "$2"
  elif has wget; then
    collect "$1" 10 wget -q -T 8 -O - "$2"
  else
    printf '%s: neither curl nor wget is here\n' "$1" >>"$out/notes.txt"
  fi
}

say "gathering into $out"
: >"$out/notes.txt"
collect about.txt 5 uname -a

pid=$(kubelet_pid)
if [ -n "$pid" ]; then
  root=$(root_of "$pid")
  # shellcheck disable=SC2016 # what stands in single quotes is for the inner shell
  collect kubelet-cmdline.txt 5 sh -c 'tr "\000" " " <"/proc/$1/cmdline"' sh "$pid"
  # The program that runs is asked itself: its file may be another one by now.
  collect kubelet-version.txt 10 "/proc/$pid/exe" --version
  collect working-folder.txt 10 ls -la "/proc/$pid/cwd/"
  # shellcheck disable=SC2016
  collect kubelet-threads.txt 10 sh -c '
    for task in "/proc/$1/task"/*; do
      printf "%s\n" "--- $task"
      for table in comm wchan syscall; do
        printf "%s: " "$table"
        cat "$task/$table" 2>/dev/null
        printf "\n"
      done
      grep -E "^(State|Pid):" "$task/status"
    done' sh "$pid"
else
  pid=1
  root=/var/lib/kubelet
  printf 'no kubelet runs: the mounts are those of process 1\n' >>"$out/notes.txt"
fi

collect mountinfo.txt 10 cat "/proc/$pid/mountinfo"

# One table of each other mount namespace that knows the kubelet's pods.
own=$(readlink "/proc/$pid/ns/mnt")
seen=" $own "
count=0
for place in /proc/[0-9]*; do
  [ "$count" -ge "$namespaces_max" ] && break
  there=$(readlink "$place/ns/mnt" 2>/dev/null) || continue
  case $seen in *" $there "*) continue ;; esac
  seen="$seen$there "
  grep -q /pods/ "$place/mountinfo" 2>/dev/null || continue
  count=$((count + 1))
  collect "mountinfo-${place#/proc/}.txt" 5 cat "$place/mountinfo"
done

# Names alone, and by the shell itself: a tool that asks what they are would hang on a dead mount.
# shellcheck disable=SC2016
collect volumes.txt 20 sh -c '
  for path in "$1"/pods/*/volumes/*/*; do
    case $path in *"/*") continue ;; esac
    printf "%s\n" "$path"
  done' sh "$root"

# What is not there is an answer, too, and is written where errors are.
collect root-links.txt 5 sh -c 'ls -ld /bin /sbin /lib /usr/bin 2>&1' sh

if has journalctl; then
  collect kubelet-log.txt 60 journalctl --no-pager -n "$log_lines" -o short-iso \
    _COMM=kubelet + _COMM=edgecore + _COMM=k3s-server + _COMM=k3s-agent
fi
for path in /var/log/kubelet.INFO /var/log/kubelet.log /var/log/kubernetes/kubelet.INFO \
  /var/log/edgecore.log /var/log/kubeedge/edgecore.log; do
  [ -f "$path" ] || continue
  collect "log-$(basename "$path").txt" 30 tail -n "$log_lines" "$path"
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
    [ "$count" -ge "$containers_max" ] && break
    count=$((count + 1))
    # Without what is verbose: it holds the environment of the container, and so passwords.
    collect "container-$id.txt" 10 crictl inspect -q "$id"
  done
else
  printf 'crictl is not here: the container runtime was not asked\n' >>"$out/notes.txt"
fi

rm -rf "$work"
say
say "$out holds, and leaves nothing out:"
say "  the mount tables, the names of all volumes, the entries of the kubelet's working folder"
say "  its log, command line and threads; the kernel's log"
say "  pods.txt, where the read-only port answered: whole pods, with the values of their variables"
say "  containers and sandboxes with their labels and annotations"
say "Look through it before you give it away. What could not be read is in notes.txt."
[ "$left_behind" -gt 0 ] && say "left behind: $left_behind processes that wait for something dead"
if has tar && tar -cf - -C "${1:-.}" "$name" 2>/dev/null | gzip >"$out.tgz"; then
  say "packed: $out.tgz"
fi
say
say "To judge it, on any machine that has kubediag: kubediag examine $out"
