import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from './log.ts';

/** The compiler of one module: a program and the surroundings it is to see. */
export interface Go {
  readonly program: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** The machine's own Go, which knows from its settings where modules come from. */
export const MACHINES_GO: Go = { program: 'go', environment: process.env };

/** The longest single step is the build of the API server: 7 minutes alone on two cores. */
const STEP_MS = 45 * 60_000;
/** One module is at most 100 MB. A proxy that answers nothing at all is not waited for longer. */
const DOWNLOAD_MS = 10 * 60_000;
const END_MS = 3_000;
const TRIES_MAX = 3;
const PAUSE_MS = 2_000;
const OUTPUT_CHARS_MAX = 64 * 1024 * 1024;

export interface GoOptions {
  /** Ends it, and all that it started. */
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number;
}

/** Go said no: the message has the last lines of what it complained of. */
class GoError extends Error {
  override readonly name = 'GoError';
}

/** Runs Go in a directory and gives its output. */
export async function go(
  { program, environment }: Go,
  folder: string,
  args: readonly string[],
  { signal, limitMs = STEP_MS }: GoOptions = {},
): Promise<string> {
  signal?.throwIfAborted();
  const child = spawn(program, args, {
    cwd: folder,
    // The directory is a name for Go too, and an inherited one would be another.
    env: { ...environment, PWD: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that the compilers that it started end with it.
    detached: true,
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < OUTPUT_CHARS_MAX) output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-10_000);
  });
  const limit = AbortSignal.timeout(limitMs);
  const ending = AbortSignal.any([limit, ...(signal ? [signal] : [])]);
  ending.addEventListener('abort', () => endGroup(child));
  const [code] = (await once(child, 'close')) as [number | null];
  signal?.throwIfAborted();
  const what = `go ${args.slice(0, 2).join(' ')}`;
  if (limit.aborted) throw new Error(`${what} was not done after ${limitMs / 60_000} min`);
  if (code === 0) return output;
  const lines = errors.trim().split('\n').slice(-8).join('\n');
  throw new GoError(`${what} failed: ${lines || errorIn(output)}`);
}

/** Gently first, so that what it fetches and caches stays whole. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (!pid || exitCode !== null || signalCode !== null) return;
  killGroup(pid, 'SIGINT');
  setTimeout(() => killGroup(pid, 'SIGKILL'), END_MS).unref();
}

function killGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** With -json Go says on its output what is wrong. */
function errorIn(output: string): string {
  try {
    // {"Path": "k8s.io/kubernetes", "Version": "v1.36.3", "Error": "... connection refused"}
    const { Error: args } = JSON.parse(output) as { readonly Error?: unknown };
    if (typeof args === 'string') return args;
  } catch {
    // Not every command answers in JSON.
  }
  return output.slice(-2_000);
}

/** For what needs the module proxy, which may be busy for a moment. */
export async function withThreeTries<T>(
  task: () => Promise<T>,
  { log = () => {}, pauseMs = PAUSE_MS }: { readonly log?: Log; readonly pauseMs?: number } = {},
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await task();
    } catch (error) {
      if (tries === TRIES_MAX || !(error instanceof GoError)) throw error;
      log(`${error.message}; trying again`);
      await sleep(tries * pauseMs);
    }
  }
}

export interface DownloadedModule {
  readonly folder: string;
  readonly goMod: string;
}

/** Fetches one module. Asked from an empty directory: Go refuses to answer below a go.mod of others. */
export async function downloadModule(
  module: string,
  { signal, log }: { readonly signal?: AbortSignal | undefined; readonly log: Log },
): Promise<DownloadedModule> {
  const nowhere = await mkdtemp(join(tmpdir(), 'kubediag-go-'));
  try {
    const args = ['mod', 'download', '-json', module];
    const options = { signal, limitMs: DOWNLOAD_MS };
    const download = () => go(MACHINES_GO, nowhere, args, options);
    return downloadedModule(module, await withThreeTries(download, { log }));
  } finally {
    await rm(nowhere, { recursive: true });
  }
}

/** What the answer names is copied and read; an empty name would be the whole machine. */
export function downloadedModule(module: string, answer: string): DownloadedModule {
  const { Dir, GoMod, Path, Version } = JSON.parse(answer) as Readonly<Record<string, unknown>>;
  const isIt = module === [Path, Version].join('@');
  const paths = [Dir, GoMod].filter(
    (path): path is string => typeof path === 'string' && isAbsolute(path) && path.length > 1,
  );
  const [folder, goMod] = paths;
  if (!isIt || !folder || !goMod) {
    throw new Error(`go mod download says no directory for ${module}: ${answer.slice(0, 500)}`);
  }
  return { folder, goMod };
}

/** Settings of the machine's Go: where its modules come from, where it caches them. */
export async function goSettings<const N extends string>(
  ...names: readonly N[]
): Promise<Readonly<Record<N, string>>> {
  const answer = await go(MACHINES_GO, tmpdir(), ['env', '-json', ...names]);
  return JSON.parse(answer) as Record<N, string>;
}
