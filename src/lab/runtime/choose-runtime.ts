import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemProgram } from '../../process/system-program.ts';
import { Refusal } from '../refusal.ts';
import type { RuntimeChoice } from '../settings.ts';
import { containerdAt } from './containerd-at.ts';
import { WAITING_PROGRAM_FOR } from './waiting-program.ts';

export const RUNTIME_KINDS = ['auto', 'containerd', 'stand-in'] as const;

export interface RuntimeWish {
  readonly kind: (typeof RUNTIME_KINDS)[number];
  /** The socket of a containerd: ours is to be the same program. */
  readonly endpoint?: string;
}

const WHAT = 'The practice node cannot have a real containerd';
const TODO =
  'install the packages containerd and runc, or leave out --runtime: then the lab brings a runtime ' +
  'of its own';

/** Which runtime a new practice node gets. Throws a Refusal when a real one is wished and cannot be. */
export function chooseRuntime({ kind, endpoint }: RuntimeWish): RuntimeChoice {
  if (kind === 'stand-in') return { kind, why: 'it was asked for' };
  if (endpoint !== undefined) return whole(containerdAt(endpoint), endpoint);
  const installed = installedContainerd();
  const why = typeof installed === 'string' ? installed : whyNotHere();
  if (typeof installed !== 'string' && why === undefined) return installed;
  if (kind === 'containerd') throw new Refusal(WHAT, why ?? '', TODO);
  return { kind: 'stand-in', why: why ?? '' };
}

function installedContainerd(): RuntimeChoice | string {
  const [containerd, runc] = ['containerd', 'runc'].map(find);
  const lacking = missingBeside(containerd);
  if (containerd === undefined || runc === undefined || lacking.length > 0) {
    const names = [...(containerd ? [] : ['containerd']), ...(runc ? [] : ['runc']), ...lacking];
    return `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} not installed on this machine`;
  }
  return { kind: 'containerd', containerd, runc };
}

function missingBeside(containerd: string | undefined): readonly string[] {
  const folder = containerd === undefined ? '/usr/bin' : dirname(containerd);
  return ['containerd-shim-runc-v2', 'ctr'].filter((name) => !existsSync(join(folder, name)));
}

/** Where packages put programs, and where else this person has some. */
function find(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return (
    systemProgram(name) ??
    folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
  );
}

/** What a containerd needs of this machine beside its programs. */
function whyNotHere(): string | undefined {
  if (process.arch !== WAITING_PROGRAM_FOR) {
    return `the lab has a program for containers on ${WAITING_PROGRAM_FOR} only, and this is ${process.arch}`;
  }
  // cgroup2 /sys/fs/cgroup cgroup2 ro,nosuid,nodev,noexec,relatime 0 0
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const hierarchies = mounts.map((line) => line.split(' ')).filter(([, , type]) => isCgroup(type));
  const fixed = hierarchies.filter(([, , , options = '']) => options.split(',').includes('ro'));
  if (hierarchies.length === 0) return 'runc needs cgroups, and none are mounted on this machine';
  if (fixed.length === 0) return undefined;
  return `runc needs cgroups of its own, and ${fixed[0]?.[1]} is mounted read-only`;
}

function isCgroup(type: string | undefined): boolean {
  return type === 'cgroup' || type === 'cgroup2';
}

/** A containerd that somebody runs already: only its programs are taken, and nothing is asked of it. */
function whole(found: { readonly program: string; readonly runc: string }, endpoint: string) {
  const { program: containerd, runc } = found;
  const lacking = missingBeside(containerd);
  const why =
    lacking.length > 0
      ? `beside ${containerd}, which serves ${endpoint}, there is no ${lacking.join(' and no ')}`
      : whyNotHere();
  if (why !== undefined) throw new Refusal(WHAT, why, TODO);
  return { kind: 'containerd', containerd, runc } as const;
}
