import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../src/node/checkup/report.ts';

export const EXECUTABLE = join(import.meta.dirname, '../../dist/kubediag');
export const NOT_BUILT = 'dist/kubediag is missing: npm run build';

/** Nothing a test runs takes so long; it is killed then, and the test sees the signal. */
const RUN_MS = 120_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}

/** A program under way: what it has said so far, and its end. */
export interface Running {
  readonly child: ChildProcess;
  readonly said: () => string;
  /** Resolves once it has said this; rejects when it ends before. */
  readonly hasSaid: (args: string) => Promise<void>;
  readonly end: Promise<Ended>;
}

export function startProgram(
  args: readonly string[],
  {
    environment = {},
    limitMs = RUN_MS,
  }: { readonly environment?: NodeJS.ProcessEnv; readonly limitMs?: number } = {},
): Running {
  if (args.includes(EXECUTABLE) && !existsSync(EXECUTABLE)) throw new Error(NOT_BUILT);
  const begun = performance.now();
  // "env" changes nothing: words may begin with a prefix that enters namespaces.
  const child = spawn('env', args, {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk.toString()));
  child.stdin.on('error', () => {}); // It may end without having read its input.
  const said = () => out.join('') + err.join('');
  const end = once(child, 'close').then(([code, signal]: unknown[]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    stdout: out.join(''),
    stderr: err.join(''),
    tookMs: performance.now() - begun,
  }));
  const hasSaid = (wanted: string) =>
    new Promise<void>((resolve, reject) => {
      const snapshot = () => said().includes(wanted) && resolve();
      snapshot();
      child.stdout.on('data', snapshot);
      child.stderr.on('data', snapshot);
      child.on('close', () => {
        snapshot();
        reject(new Error(`it never said ${JSON.stringify(wanted)}, but: ${said()}`));
      });
    });
  return { child, said, hasSaid, end };
}

/** Runs a program to its end, without a terminal and with nothing to read. */
export async function runProgram(
  args: readonly string[],
  options?: Parameters<typeof startProgram>[1],
): Promise<Ended> {
  const { child, end } = startProgram(args, options);
  child.stdin?.end();
  return end;
}

export function reportOf({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>): Report {
  if (!stdout.startsWith('{')) throw new Error(`no report, but: ${stdout}${stderr}`);
  return JSON.parse(stdout) as Report;
}

/** Text as it was before it was broken into lines. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
