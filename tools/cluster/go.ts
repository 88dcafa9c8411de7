import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The compiler of one module: a program and the surroundings it is to see. */
export interface Go {
  readonly program: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** The machine's own Go, which knows from its settings where modules come from. */
export const MACHINES_GO: Go = { program: 'go', environment: process.env };

/** The longest single step is the build of the API server: 7 minutes alone on two cores. */
const STEP_MS = 45 * 60_000;
const TRIES_MAX = 3;
const PAUSE_MS = 5_000;
const OUTPUT_CHARS_MAX = 64 * 1024 * 1024;

/** Runs Go in a folder and gives its output; rejects with the last lines of what it complained of. */
export async function go(
  { program, environment }: Go,
  folder: string,
  ...words: readonly string[]
): Promise<string> {
  const child = spawn(program, words, {
    cwd: folder,
    // The folder is a name for Go too, and an inherited one would be another.
    env: { ...environment, PWD: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: STEP_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < OUTPUT_CHARS_MAX) output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-10_000);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) return output;
  const lines = errors.trim().split('\n').slice(-8).join('\n');
  throw new Error(`go ${words.slice(0, 2).join(' ')} failed: ${lines || output.slice(-2_000)}`);
}

/** For what needs the module proxy, which may be busy for a moment. */
export async function withThreeTries<T>(task: () => Promise<T>, pauseMs = PAUSE_MS): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await task();
    } catch (error) {
      if (tries === TRIES_MAX) throw error;
      await sleep(tries * pauseMs);
    }
  }
}

export interface DownloadedModule {
  readonly folder: string;
  readonly goMod: string;
}

/** Fetches one module. Asked from an empty folder: Go refuses to answer below a go.mod of others. */
export async function downloadModule(module: string): Promise<DownloadedModule> {
  const nowhere = await mkdtemp(join(tmpdir(), 'kubediag-go-'));
  try {
    return downloadedModule(
      module,
      await withThreeTries(() => go(MACHINES_GO, nowhere, 'mod', 'download', '-json', module)),
    );
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
    throw new Error(`go mod download says no folder for ${module}: ${answer.slice(0, 500)}`);
  }
  return { folder, goMod };
}

/** Settings of the machine's Go: where its modules come from, where it keeps them. */
export async function goSettings<const N extends string>(
  ...names: readonly N[]
): Promise<Readonly<Record<N, string>>> {
  const answer = await go(MACHINES_GO, tmpdir(), 'env', '-json', ...names);
  return JSON.parse(answer) as Record<N, string>;
}
