import { constants } from 'node:os';
import { type CompanionExit, startCompanion } from '../../src/lib/process/companion.ts';
import { PLAIN_ENVIRONMENT, runProgram, systemProgram } from '../../src/lib/process/run.ts';
import { joinCgroup } from '../cgroups.ts';
import { PLACES } from '../places.ts';
import { OUTPUT_BYTES_MAX, START_MS, STAT_MS } from './limits.ts';

export interface HostMount {
  readonly containerPath: string;
  readonly hostPath: string;
}

export interface ContainerProcessOptions {
  /** Its cgroup, from the root of the hierarchy. */
  readonly cgroup: string;
  readonly mounts: readonly HostMount[];
}

/** A container as a process of the node: it only sleeps, and holds its mounts. */
export interface ContainerProcess {
  /** Settles with the exit code; never for a process that hangs in the kernel. */
  readonly ended: Promise<number>;
  kill(): void;
}

/** The root of a container while it is created; each mount namespace has its own. */
const ROOT = `${PLACES.lab}/container-root`;

/**
 * What runc does, as shell lines in a new mount namespace ($0 is the new root): they create a root in
 * memory with the programs of the node, and below "rootfs" the image, which is an empty directory "bin".
 * They bind each host path below it and detach the root of the node, so that the container holds no
 * other mounts. The shell first waits for a line, until its cgroup exists, and ends with the pipe.
 */
const SCRIPT = `
read -r _
mkdir -p "$0" && mount -t tmpfs -o mode=755 tmpfs "$0" && cd "$0" || exit 125
for name in bin lib lib32 lib64 libx32 sbin usr; do
  if [ -L "/$name" ]; then cp -P "/$name" "$name"
  elif [ -d "/$name" ]; then mkdir "$name" && mount --bind "/$name" "$name"
  fi || exit 125
done
mkdir -p old proc rootfs/bin && mount --bind /proc proc || exit 125
while [ $# -gt 0 ]; do
  place=$PWD/rootfs/$2
  if [ ! -e "$place" ]; then
    if [ -d "$1" ]; then mkdir -p "$place"; else mkdir -p "\${place%/*}" && : > "$place"; fi || exit 125
  fi
  why=$(mount --rbind -- "$1" "$place" 2>&1) || { echo "refused $1"; echo "$why"; exit 128; }
  shift 2
done
pivot_root . old && cd / && umount -l /old && rmdir /old || exit 125
echo running
exec cat
`;

/** Rejects with the message of runc if a host path cannot be mounted. */
export async function startContainerProcess(
  options: ContainerProcessOptions,
): Promise<ContainerProcess> {
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<number>();
  let said = '';
  const hear = (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(0, OUTPUT_BYTES_MAX);
    if (said === 'running\n') started.resolve();
  };
  const paths = options.mounts.flatMap(({ hostPath, containerPath }) => [hostPath, containerPath]);
  const text = ['--mount', '--propagation', 'private', program('sh'), '-c', SCRIPT, ROOT, ...paths];
  const command = { program: program('unshare'), arguments: text, environment: PLAIN_ENVIRONMENT };
  const child = startCompanion(command, {
    onOutput: hear,
    onErrorOutput: hear,
    onEnd: (why, exit) => {
      const refused = refusal(said, options.mounts);
      started.reject(new Error(refused ?? `the container was not made: ${why}: ${said}`));
      ended.resolve(exitCodeOf(exit));
    },
    onGone: () => ended.resolve(exitCodeOf({ signal: 'SIGKILL' })),
  });
  const late = setTimeout(() => {
    child.abandon();
    const limit = `${START_MS / 1_000} s`;
    started.reject(new Error(`context deadline exceeded: not started within ${limit}`));
  }, START_MS);
  const begin = joinCgroup(options.cgroup, child.pid).then(() => child.write(Buffer.from('\n')));
  await Promise.all([started.promise, begin]).finally(() => clearTimeout(late));
  return { ended: ended.promise, kill: () => child.abandon() };
}

function program(name: string): string {
  const file = systemProgram(name);
  if (!file) throw new Error(`the program ${name} is missing on this machine; install it`);
  return file;
}

// refused /var/lib/kubelet/pods/u1/volume-subpaths/conf/app/0
// mount: /run/x/etc/app.conf: mount(2) system call failed: No such file or directory.
const REFUSED = /^refused (.+)\nmount: .*?(?:: mount\(2\) system call failed)?: ([^:\n]+)\.$/m;

function refusal(said: string, mounts: readonly HostMount[]): string | undefined {
  const [, path, why = ''] = REFUSED.exec(said) ?? [];
  const mount = mounts.find(({ hostPath }) => hostPath === path);
  if (!mount) return undefined;
  return runcRefusal(mount.hostPath, mount.containerPath, kernelText(why));
}

/** `mount` has other texts than the kernel for two errors; Go writes all in lower case. */
function kernelText(why: string): string {
  if (why.endsWith('does not exist')) return 'no such file or directory';
  if (why.endsWith('not a directory')) return 'not a directory';
  return why.toLowerCase();
}

/** As in a shell: 128 + N for signal N. */
function exitCodeOf({ code = null, signal = null }: Partial<CompanionExit> = {}): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** The message of runc 1.1, through containerd, for a host path that cannot be mounted. */
export function runcRefusal(hostPath: string, containerPath: string, why: string): string {
  return (
    'failed to create containerd task: failed to create shim task: OCI runtime create failed: ' +
    'runc create failed: unable to start container process: error during container init: ' +
    `error mounting "${hostPath}" to rootfs at "${containerPath}": ` +
    `mount ${hostPath}:${containerPath} (via /proc/self/fd/6), flags: 0x5000: ${why}: unknown`
  );
}

/** In a child process: a path on a silent file server would block us forever. */
const PREPARE = `
for path do
  why=$(stat -L -- "$path" 2>&1 >/dev/null) && continue
  case $why in
    *": No such file or directory") mkdir -p -- "$path" || exit 1 ;;
    *) echo "$path"; echo "$why"; exit 2 ;;
  esac
done
`;

/**
 * Checks every host path of a new container as containerd does: creates a directory for a missing
 * one, and rejects one that cannot be checked, with the same message.
 */
export async function prepareHostPaths(paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const ended = await runProgram({
    program: program('sh'),
    arguments: ['-c', PREPARE, 'sh', ...paths],
    deadlineMs: STAT_MS,
    outputBytesMax: OUTPUT_BYTES_MAX,
  });
  if (ended.ended === 'exit' && ended.code === 0) return;
  if (ended.ended === 'deadline') throw new Error('context deadline exceeded');
  if (ended.ended === 'not-started') throw new Error(ended.why);
  const [path, why = ended.stderr] = ended.stdout.trimEnd().split('\n');
  // stat: cannot statx '/x': Transport endpoint is not connected
  const text = why.split(': ').at(-1)?.toLowerCase();
  throw new Error(
    `failed to generate container spec: failed to stat "${path}": stat ${path}: ${text}`,
  );
}
