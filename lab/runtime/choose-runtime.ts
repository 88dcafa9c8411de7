import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SYSTEM_FOLDERS } from '../../src/lib/process/system-program.ts';
import { UsageError } from '../../src/lib/terminal/terminal.ts';
import { Refusal } from '../refusal.ts';
import type { RuntimeChoice } from '../settings.ts';
import { containerdAt } from './containerd-at.ts';
import { isHiddenOnNodes } from './hidden-on-nodes.ts';
import { WAITING_PROGRAM_FOR } from './waiting-program.ts';

export interface RuntimeOptions {
  readonly kind: 'auto' | 'containerd' | 'stand-in';
  /** The socket of a containerd: use the same program. */
  readonly endpoint?: string | undefined;
}

const WHAT = 'the practice node cannot have a real containerd';
const TODO =
  'install the packages containerd and runc, or say --runtime stand-in: then the lab brings a runtime ' +
  'of its own';

/** The runtime of a new practice node. Throws a Refusal if a real one is requested and not possible. */
export function chooseRuntime(
  { kind, endpoint }: RuntimeOptions,
  folders: readonly string[] = usualFolders(),
): RuntimeChoice {
  if (kind === 'stand-in') {
    if (endpoint === undefined) return { kind, why: 'it was asked for' };
    throw new UsageError(
      '--runtime stand-in and --runtime-endpoint ask for two different runtimes',
    );
  }
  const { found, why } = endpoint === undefined ? installed(folders) : serving(endpoint);
  const reason = why ?? whyNotHere();
  if (reason === undefined) return { kind: 'containerd', ...found };
  if (kind === 'containerd' || endpoint !== undefined) throw new Refusal(WHAT, reason, TODO);
  return { kind: 'stand-in', why: reason };
}

interface Search {
  readonly found: { readonly containerd: string; readonly runc: string };
  readonly why?: string;
}

function installed(folders: readonly string[]): Search {
  const find = (name: string) =>
    folders
      .map((folder) => join(folder, name))
      .find((file) => existsSync(file) && !isHiddenOnNodes(file));
  const [containerd = '', runc = ''] = ['containerd', 'runc'].map(find);
  const found = { containerd, runc };
  const own = Object.entries(found).flatMap(([name, file]) => (file === '' ? [name] : []));
  const missing = [...own, ...(containerd === '' ? [] : missingBeside(containerd))];
  if (missing.length === 0) return { found };
  const are = missing.length === 1 ? 'is' : 'are';
  return { found, why: `${missing.join(' and ')} ${are} not installed on this machine` };
}

/** A running containerd: only its programs are used, and nothing is sent to it. */
function serving(endpoint: string): Search {
  const found = containerdAt(endpoint);
  const missing = missingBeside(found.containerd);
  if (missing.length === 0) return { found };
  const { containerd } = found;
  return {
    found,
    why: `beside ${containerd}, which serves ${endpoint}, is no ${missing.join(', no ')}`,
  };
}

/** Every package has them in one directory, where containerd finds its shim. */
function missingBeside(containerd: string): readonly string[] {
  const beside = ['containerd-shim-runc-v2', 'ctr'];
  return beside.filter((name) => !existsSync(join(dirname(containerd), name)));
}

/** The directories of packages, and those of PATH. */
function usualFolders(): readonly string[] {
  const path = (process.env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return [...SYSTEM_FOLDERS, ...path];
}

/** What containerd needs beside its programs. */
function whyNotHere(): string | undefined {
  if (process.arch !== WAITING_PROGRAM_FOR) {
    return `the lab has a program for containers on ${WAITING_PROGRAM_FOR} only, and this is ${process.arch}`;
  }
  // cgroup2 /sys/fs/cgroup cgroup2 ro,nosuid,nodev,noexec,relatime 0 0
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const hierarchies = mounts
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2');
  if (hierarchies.length === 0) return 'runc needs cgroups, and none are mounted on this machine';
  const fixed = hierarchies.find(([, , , options = '']) => options.split(',').includes('ro'));
  return fixed && `runc needs cgroups of its own, and ${fixed[1]} is mounted read-only`;
}
