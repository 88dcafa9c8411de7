import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { killIfThere } from './cgroup-tree.ts';

const run = promisify(execFile);
const COMMAND_MS = 60_000;
const END_MS = 20_000;
const LOOK_MS = 20;

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
      if (holder.exitCode !== null || holder.signalCode !== null) return;
      await endNamespaces(pid);
      // Whoever holds them has nothing left to wait for.
      holder.kill('SIGKILL');
      await exit;
    },
  };
}

/**
 * Kills the first process of namespaces, as outside sees it, and waits until all of them are gone.
 * The kernel ends every process together with the first, but each has to be reaped too, and those
 * that entered by `nsenter`: it stops itself together with its child, and then reaps nobody.
 */
export async function endNamespaces(first: number, limitMs = END_MS): Promise<void> {
  const namespace = await pidNamespaceOf(first);
  killIfThere(first);
  const deadline = Date.now() + limitMs;
  for (;;) {
    await sleep(LOOK_MS);
    const entering = await enteringInto((target) => target === first);
    if (entering.length === 0 && !isRunning(first)) return;
    if (Date.now() > deadline) {
      const left = [...entering.map(({ pid }) => pid), ...(await membersOf(namespace))];
      throw new Error(await whyNotEnded(first, left));
    }
    for (const { pid } of entering) killIfThere(pid);
  }
}

/** The running programs that entered namespaces of the wanted first process, with that process. */
export async function enteringInto(
  isWanted: (target: number, commandLine: string) => boolean,
): Promise<readonly { readonly pid: number; readonly target: number }[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const found = await Promise.all(
    pids.map(async (pid) => {
      // A process that waits to be reaped has no words any more.
      const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      const [program, option, target] = commandLine.split('\0');
      if (program !== 'nsenter' || option !== '--target') return [];
      return isWanted(Number(target), commandLine) ? [{ pid, target: Number(target) }] : [];
    }),
  );
  return found.flat();
}

async function pidNamespaceOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/ns/pid`).catch(() => undefined);
}

async function membersOf(namespace: string | undefined): Promise<readonly number[]> {
  if (namespace === undefined) return [];
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const theirs = await Promise.all(pids.map(pidNamespaceOf));
  return pids.filter((_, index) => theirs[index] === namespace);
}

/** The first process only waits for the others: those are what a person has to look at. */
async function whyNotEnded(first: number, others: readonly number[]): Promise<string> {
  const culprits = others.filter((pid) => pid !== first && isRunning(pid));
  const named = (culprits.length > 0 ? culprits : [first]).map(async (pid) => {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return `${pid} (${commandLine.replaceAll('\0', ' ').trim() || 'without a command line'})`;
  });
  return (
    `processes do not end: ${(await Promise.all(named)).join(', ')}. They were killed and still wait ` +
    'in the kernel, for a mount whose server is silent perhaps: end that server, then try again'
  );
}

/** Not one that only waits to be reaped: the first process becomes that after all others. */
function isRunning(pid: number): boolean {
  try {
    // 812 (node) S 1 812 812 0 -1 4194560 ...: the name may hold anything.
    return !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
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
