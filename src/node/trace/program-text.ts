import { FOLDER_DEPTH_MAX, STACK_DEPTH_MAX, TEXT_BYTES } from './limits.ts';

export interface ProgramOptions {
  /** bpftrace ends by itself after so many, even without us. */
  readonly seconds: number;
  /** Tracepoints that this kernel has; arm64 has no unlink and no rename. */
  readonly calls: readonly string[];
  /** The kernel describes its own types, so the caller's directory can be read inside of it. */
  readonly hasTypes: boolean;
  /** The number of our PID namespace: processes are named as /proc here names them. */
  readonly pidNamespace: number;
}

/**
 * Arguments of each call: descriptor and name of what goes, then those of what it becomes. bpftrace
 * attaches them one after another, and does not say when it is done. So at both ends stand those
 * that we can make ourselves, by which we see it (`start-tracer.ts`).
 */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  unlink: ['-100', 'args->pathname'],
  unlinkat: ['args->dfd', 'args->pathname'],
  rmdir: ['-100', 'args->pathname'],
  renameat2: ['args->olddfd', 'args->oldname', 'args->newdfd', 'args->newname'],
  renameat: ['args->olddfd', 'args->oldname', 'args->newdfd', 'args->newname'],
  rename: ['-100', 'args->oldname', '-100', 'args->newname'],
};

export const CALLS: readonly string[] = Object.keys(ARGUMENTS);

/**
 * The program for bpftrace 0.12 and later. One call is printed in several lines, because the memory of
 * a BPF program does not hold two texts; each line begins with a letter, the thread and the time of
 * the call, by which they are joined again (`event-assembler.ts`).
 */
export function programText(options: ProgramOptions): string {
  const probes = options.calls.map((call) => probesOf(call, ARGUMENTS[call] ?? [], options));
  return `${probes.join('')}interval:s:${options.seconds} { exit(); }\nEND { clear(@call); }\n`;
}

const TASK = '((struct task_struct *)curtask)';

function probesOf(call: string, args: readonly string[], options: ProgramOptions): string {
  const [oldFolder = '', oldName = '', newFolder = '', newName = ''] = args;
  const flags = call === 'unlinkat' ? 'args->flag' : '0';
  return `tracepoint:syscalls:sys_enter_${call} {
  $k = nsecs;
  @call[tid] = $k;
  $b = (uint64)0;
  $c = (uint64)0;
${options.hasTypes ? callerLines(options.pidNamespace) : PLAIN_CALLER}
  printf("E %d %llu ${call} %d %d %d%s", tid, $k, $i, (int32)${oldFolder}, ${flags}, ustack(perf, ${STACK_DEPTH_MAX}));
  printf("C %d %llu %s", tid, $k, comm);
${nameLines('N', oldName)}${options.hasTypes ? folderLines('P', '$b', oldFolder, oldName) : ''}${
  newName
    ? `  printf("D %d %llu %d", tid, $k, (int32)${newFolder});\n${nameLines('M', newName)}${
        options.hasTypes ? folderLines('Q', '$c', newFolder, newName) : ''
      }`
    : ''
}  printf("Z %d %llu %d %d", tid, $k, $b, $c);
}
tracepoint:syscalls:sys_exit_${call} /@call[tid]/ {
  printf("X %d %llu %d", tid, @call[tid], args->ret);
  delete(@call[tid]);
}
`;
}

const PLAIN_CALLER = '  $i = (uint64)pid;';

/** A process has a number in each PID namespace from the first one down to its own. */
const PID_LEVELS = 4;

function callerLines(pidNamespace: number): string {
  const levels = Array.from({ length: PID_LEVELS }, (_, level) => {
    const upid = `($n + ${level})`;
    return `  if ($l >= ${level}) { if (${upid}->ns->ns.inum == ${pidNamespace}) { $i = (uint64)${upid}->nr; } }\n`;
  }).join('');
  return `  $i = (uint64)0;
  $g = ${TASK}->group_leader->thread_pid;
  $l = $g->level;
  $n = (struct upid *)$g->numbers;
${levels}  $r = ${TASK}->fs->root.dentry;
  printf("V %d %llu %u %u %llu", tid, $k, ${TASK}->nsproxy->mnt_ns->ns.inum, $r->d_sb->s_dev, $r->d_inode->i_ino);`;
}

/** Two texts of a name: paths of volumes are longer than one. */
function nameLines(letter: string, name: string): string {
  return `  printf("${letter} %d %llu %s", tid, $k, str(${name}));
  printf("${letter} %d %llu %s", tid, $k, str(${name} + ${TEXT_BYTES - 1}));
`;
}

/**
 * The names from the directory up to the root of the caller's namespace, as the kernel's own getcwd
 * walks: at the root of a mount it goes on at the directory that the mount stands on. Those two words
 * stand in front of what a path calls its mount, since Linux 3.3.
 */
function folderLines(letter: string, isCut: string, descriptor: string, name: string): string {
  const open =
    descriptor === '-100'
      ? ''
      : `  if ((int32)${descriptor} >= 0) {
    $x = *(${TASK}->files->fdt->fd + (int32)${descriptor});
    $d = (uint64)$x->f_path.dentry;
    $m = (uint64)$x->f_path.mnt;
  }
`;
  // A path that begins at the root needs no directory: half of all lines are saved on a busy node.
  return `  $d = (uint64)${TASK}->fs->pwd.dentry;
  $m = (uint64)${TASK}->fs->pwd.mnt;
${open}  if (str(${name}, 2) == "/") { $d = (uint64)0; }
  unroll(${FOLDER_DEPTH_MAX}) {
    if ($d != 0) {
      $q = (uint64)((struct dentry *)$d)->d_parent;
      if ($d == $q) {
        $p = *(uint64 *)($m - 16) + 32;
        if ($p == $m) { $d = (uint64)0; } else { $d = *(uint64 *)($m - 8); $m = $p; }
      } else {
        printf("${letter} %d %llu %s", tid, $k, str(((struct dentry *)$d)->d_name.name));
        $d = $q;
      }
    }
  }
  ${isCut} = $d;
  if (${isCut} != 0) { ${isCut} = (uint64)1; }
`;
}
