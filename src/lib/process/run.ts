import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { defined } from '../std/defined.ts';
import { messageOf } from '../std/message-of.ts';
import { drainMs, drainTurnsMax, killGraceMs, termGraceMs } from './limits.ts';

export interface Program {
  /** An absolute path on a healthy filesystem: spawn blocks until the file is read. */
  readonly program: string;
  readonly arguments: readonly string[];
  readonly deadlineMs: number;
  /** An abort moves the deadline to now. */
  readonly stop?: AbortSignal;
  /** The limit of each of the two outputs; the rest is read and discarded. */
  readonly outputBytesMax: number;
  /** The complete environment: nothing is inherited. By default `PLAIN_ENVIRONMENT`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Written to standard input once the watcher runs, if there is one. */
  readonly input?: string;
  /** Our open file descriptors that it inherits as 3, 4 and so on. */
  readonly files?: readonly number[];
  /** A watcher kills its process group when we exit, and at the deadline if we cannot run. */
  readonly endsWithUs?: ChildResources;
  /** Gets the output instead of the result; "enough" ends the program. */
  readonly onOutput?: (chunk: Buffer) => 'more' | 'enough';
}

export type ProgramResult = (Ended & Output) | NotStarted;

type Ended =
  | { readonly ended: 'exit'; readonly code: number }
  | { readonly ended: 'signal'; readonly signal: string }
  /** An abandoned process is one that even SIGKILL did not end. */
  | { readonly ended: 'deadline'; readonly abandoned?: { readonly pid: number } };

interface NotStarted {
  readonly ended: 'not-started';
  readonly why: string;
  readonly code?: string;
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  /** More was written than `outputBytesMax`. */
  readonly isCut: boolean;
  /** A pipe was still open at the end: a grandchild that left the group still runs. */
  readonly isHeld: boolean;
}

/** Never rejects, and settles soon after the deadline, whatever the child does. */
export async function runProgram(asked: Program): Promise<ProgramResult> {
  let child: ChildProcess;
  try {
    child = spawn(asked.program, asked.arguments, {
      cwd: '/',
      // Its own session and group: signals also reach its children, and Ctrl-C reaches neither.
      detached: true,
      env: asked.environment ?? PLAIN_ENVIRONMENT,
      stdio: [
        asked.input === undefined ? 'ignore' : 'pipe',
        'pipe',
        'pipe',
        ...(asked.files ?? []),
      ],
    });
  } catch (error) {
    return notStarted(error); // For example a NUL byte in an argument.
  }
  const { endsWithUs, deadlineMs } = asked;
  const watcher = endsWithUs && child.pid && cleanUpOnExit(child.pid, deadlineMs, endsWithUs);
  const output = collectOutput(child, asked);
  const ended = await endOf(child, asked);
  if (watcher) signalGroup(watcher, 'SIGKILL');
  child.unref();
  for (const pipe of child.stdio) pipe?.destroy();
  return ended.ended === 'not-started' ? ended : { ...ended, ...output() };
}

function endOf(child: ChildProcess, asked: Program): Promise<Ended | NotStarted> {
  return new Promise((resolve) => {
    let hasExited = false;
    let isLate = false;
    let isSettled = false;
    const timers: NodeJS.Timeout[] = [];
    const after = (ms: number, then: () => void) => void timers.push(setTimeout(then, ms));
    const settle = (end: Ended | NotStarted) => {
      if (isSettled) return;
      isSettled = true;
      for (const timer of timers) clearTimeout(timer);
      asked.stop?.removeEventListener('abort', endIt);
      signalGroup(child, 'SIGKILL'); // The rest of its process group.
      resolve(end);
    };
    const endIt = () => {
      if (hasExited || isLate) return;
      isLate = true;
      signalGroup(child, 'SIGTERM');
      after(termGraceMs, () => signalGroup(child, 'SIGKILL'));
      after(termGraceMs + killGraceMs, () => {
        if (!hasExited) settle({ ended: 'deadline', abandoned: { pid: child.pid ?? 0 } });
      });
    };
    child.once('error', (error) => {
      if (child.pid === undefined) settle(notStarted(error));
    });
    child.once('exit', (code, signal) => {
      hasExited = true;
      const end: Ended = isLate
        ? { ended: 'deadline' }
        : code === null
          ? { ended: 'signal', signal: String(signal) }
          : { ended: 'exit', code };
      child.once('close', () => settle(end));
      after(drainMs, () => {
        signalGroup(child, 'SIGKILL'); // Grandchildren of the group have the pipe open.
        after(drainMs, () => void untilRead(child).then(() => settle(end)));
      });
    });
    after(asked.deadlineMs, endIt);
    asked.stop?.addEventListener('abort', endIt, { once: true });
    if (asked.stop?.aborted) endIt();
    child.stdin?.on('error', () => {}); // The child may exit without reading its input.
    child.stdin?.end(asked.input);
  });
}

/**
 * Reads what is still in the pipes, and their ends: a busy event loop may take longer for one turn than
 * all time limits after the exit. A turn without output shows that a pipe is held open.
 */
async function untilRead({ stdout, stderr }: ChildProcess): Promise<void> {
  let hasRead = true;
  for (const pipe of [stdout, stderr]) pipe?.on('data', () => (hasRead = true));
  for (let turns = 0; hasRead && turns < drainTurnsMax; turns += 1) {
    hasRead = false;
    await nextTurn();
  }
}

function collectOutput(
  child: ChildProcess,
  { outputBytesMax: bytesMax, onOutput }: Program,
): () => Output {
  let isCut = false;
  const pass = (chunk: Buffer) => {
    if (isCut || onOutput?.(chunk) !== 'enough') return;
    isCut = true;
    signalGroup(child, 'SIGKILL');
  };
  const collect = (pipe: ChildProcess['stdout'], isPassed: boolean) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    pipe?.on('error', () => {});
    pipe?.on('data', (chunk: Buffer) => {
      if (isPassed) {
        pass(chunk);
        return;
      }
      const stored = chunk.subarray(0, bytesMax - bytes);
      if (stored.length < chunk.length) isCut = true;
      if (stored.length > 0) chunks.push(stored);
      bytes += stored.length;
    });
    return {
      text: () => Buffer.concat(chunks).toString('utf8'),
      isOpen: () => pipe !== null && !pipe.readableEnded,
    };
  };
  const stdout = collect(child.stdout, onOutput !== undefined);
  const stderr = collect(child.stderr, false);
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const isHeld = () => hasExited() && (stdout.isOpen() || stderr.isOpen());
  return () => ({ stdout: stdout.text(), stderr: stderr.text(), isCut, isHeld: isHeld() });
}

function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is already empty.
  }
}

function notStarted(error: unknown): NotStarted {
  const { code } = error as NodeJS.ErrnoException;
  return defined({ ended: 'not-started', why: messageOf(error), code });
}

interface ChildResources {
  /** A directory of it and the files therein, which nobody else would remove once we are killed. */
  readonly scratch?: readonly string[];
}

/**
 * The input of the watcher ends when we exit for any reason: then it kills the process group $0 and
 * removes the files one by one, because a program may have mounted something beside them. Its timer
 * is for the case that we cannot run, such as in a frozen cgroup.
 */
const WATCH = `
{ sleep "$1" && kill -9 "-$0"; } &
shift
read -r _
kill -9 "-$0"
rm -f -- "$@"
rmdir -- "$1"
kill -9 0
`;

/** The caller kills the group of this watcher when the program has exited. */
function cleanUpOnExit(
  group: number,
  deadlineMs: number,
  { scratch = [] }: ChildResources,
): ChildProcess | undefined {
  const seconds = Math.ceil((deadlineMs + termGraceMs + killGraceMs) / 1_000) + 1;
  try {
    const shell = systemProgram('sh') ?? '/bin/sh';
    const watcher = spawn(shell, ['-c', WATCH, String(group), String(seconds), ...scratch], {
      cwd: '/',
      // Signals to the watched group, and Ctrl-C, do not reach it.
      detached: true,
      env: PLAIN_ENVIRONMENT,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // Without a shell, only our own time limits apply.
    watcher.on('error', () => {});
    watcher.stdin?.on('error', () => {});
    return watcher;
  } catch {
    return undefined; // Out of memory, for example: the same.
  }
}

/**
 * Where programs are on a node, also when /bin is gone. Not in PATH: that belongs to the user who
 * started us, and what we start here sees the whole machine.
 */
export const SYSTEM_FOLDERS = [
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/bin',
  '/sbin',
];

export function systemProgram(name: string): string | undefined {
  return SYSTEM_FOLDERS.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** Directories of programs that run as root: not those to which an administrator adds programs. */
const PACKAGED_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

export type Trusted =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly why: string };

/** The programs of this name, each of which may act as root, or why it may not. */
export function packagedPrograms(name: string): readonly Trusted[] {
  const files = PACKAGED_FOLDERS.map((folder) => join(folder, name)).filter(existsSync);
  if (files.length === 0) {
    return [{ ok: false, why: `there is no ${name} in ${PACKAGED_FOLDERS.join(', ')}` }];
  }
  return files.map((file) => {
    const why = distrustOf(file);
    return why === undefined ? { ok: true, value: file } : { ok: false, why };
  });
}

export function packagedProgram(name: string): Trusted {
  return packagedPrograms(name)[0] ?? { ok: false, why: `there is no ${name}` };
}

/** Why a program must not run as root: another user can change or replace it. */
export function distrustOf(file: string): string | undefined {
  if (lstatSync(file).uid !== 0) return `${file} is not owned by root`;
  // For a symbolic link, both its directory and its target count.
  return distrustOfPath(realpathSync(dirname(file))) ?? distrustOfPath(realpathSync(file));
}

function distrustOfPath(path: string): string | undefined {
  const status = statSync(path);
  if (status.uid !== 0) return `${path} is not owned by root`;
  const isWritable =
    (status.mode & 0o002) !== 0 || ((status.mode & 0o020) !== 0 && status.gid !== 0);
  // In a sticky directory, such as /tmp, other users cannot replace files of root.
  const isSticky = status.isDirectory() && (status.mode & 0o1000) !== 0;
  if (isWritable && !isSticky) return `${path} may be written by others than root`;
  const above = dirname(path);
  return above === path ? undefined : distrustOfPath(above);
}

/** The environment of child processes: messages in English, and the usual PATH. */
export const PLAIN_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
