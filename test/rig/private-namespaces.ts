import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COMMAND_MS = 60_000;

/**
 * Mount and PID namespaces of their own, with an own /proc and an empty /run. All that is mounted
 * or started in them ends with them, and they end with the process that made them. What else a
 * machine has for itself alone (network, host name, shared memory) they may have too.
 *
 * The maker stays outside: it prefixes a command with `enter`, and shares files by path.
 */
export interface PrivateNamespaces {
  /** Their first process, as the maker sees it. /proc/<pid>/mountinfo is their mount table. */
  readonly pid: number;
  /** The words that stand before a command to run it inside. */
  readonly enter: readonly string[];
  /** Runs a command inside and gives its standard output; rejects with what it wrote as error. */
  run(program: string, ...words: readonly string[]): Promise<string>;
  /** Settles when they are gone, whoever ended them. */
  readonly ended: Promise<unknown>;
  stop(): Promise<void>;
}

// The first process inherits every orphan, so it has to reap: a shell that waits does. It waits for
// the pipe from the maker to close.
const FIRST_PROCESS = `
  mount -t tmpfs -o mode=755 tmpfs /run || exit 1
  exec 3<&0
  echo ready
  cat <&3 >/dev/null & wait $!`;

export async function makePrivateNamespaces({
  also = [],
}: {
  readonly also?: readonly ('net' | 'ipc' | 'uts')[];
} = {}): Promise<PrivateNamespaces> {
  const namespaces = ['--mount', '--pid', ...also.map((name) => `--${name}`)];
  const words = ['--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
  const holder = spawn('unshare', [...namespaces, ...words, 'sh', '-c', FIRST_PROCESS], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exit = once(holder, 'exit');
  await readyWord(holder);
  const pid = await childOf(holder.pid ?? 0);
  const enter = ['nsenter', '--target', String(pid), ...namespaces, '--'];
  return {
    pid,
    enter,
    ended: exit,
    run: async (program, ...rest) => {
      // "env" changes nothing: it lets the prefix stay one list of words.
      return (await run('env', [...enter, program, ...rest], { timeout: COMMAND_MS })).stdout;
    },
    stop: async () => {
      // The kernel ends every process of the namespaces together with the first.
      if (holder.exitCode === null && holder.signalCode === null) process.kill(pid, 'SIGKILL');
      await exit;
    },
  };
}

async function readyWord(holder: ChildProcess): Promise<void> {
  let errors = '';
  holder.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ready = holder.stdout ? once(holder.stdout, 'data') : Promise.resolve();
  const first = await Promise.race([ready.then(() => 'ready'), once(holder, 'exit')]);
  if (first !== 'ready') throw new Error(`no private namespaces: ${errors.trim()}`);
}

/** The only child of a process such as nsenter or unshare, which fork once and wait. */
export async function childOf(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const child = Number(children.trim().split(' ')[0]);
  if (!child) throw new Error(`process ${pid} has no child`);
  return child;
}
