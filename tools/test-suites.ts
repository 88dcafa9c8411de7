import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A project of vitest.config.ts, and what it wants of the machine. */
export interface Suite {
  readonly name: string;
  readonly needs: readonly Need[];
  /** Suites of one lane run one after another; the lanes run side by side. */
  readonly lane: 'machine' | 'cluster';
}

/** What is missing and what to do about it, or nothing. */
export type Need = () => Promise<string | undefined>;

const PROBE_MS = 30_000;
const PROBE_AGAIN_MS = 5_000;

const run = promisify(execFile);

export async function root(): Promise<string | undefined> {
  return process.getuid?.() === 0 ? undefined : 'it needs root; run it as root';
}

export async function namespaces(): Promise<string | undefined> {
  // The kernel may forbid it to a container although we are root.
  return run('unshare', ['--mount', '--pid', '--fork', '--mount-proc', 'true'], {
    timeout: PROBE_MS,
  }).then(
    () => undefined,
    () => 'it needs own mount and PID namespaces; run in a container with CAP_SYS_ADMIN',
  );
}

export async function fuse(): Promise<string | undefined> {
  return access('/dev/fuse', constants.R_OK | constants.W_OK).then(
    () => undefined,
    () => 'it needs /dev/fuse; load the kernel module fuse, or pass the device to the container',
  );
}

async function containerRuntime(): Promise<string | undefined> {
  const { containerdPackages } = await import('../test/rig/containerd.ts');
  const packages = await containerdPackages();
  return 'missing' in packages ? packages.missing : undefined;
}

/** The kernel of a container may forbid BPF although we are root. */
async function bpftrace(): Promise<string | undefined> {
  const { bpftracePackages } = await import('../test/rig/bpftrace.ts');
  const packages = await bpftracePackages();
  if ('missing' in packages) return packages.missing;
  const env = { ...process.env, ...packages.environment };
  const probe = () =>
    run(packages.program, ['-e', 'BEGIN { exit(); }'], { timeout: PROBE_MS, env }).then(
      () => undefined,
      ({ message }: Error) => message.trim(),
    );
  // A machine on which namespaces are just being torn down may turn it away for a moment.
  const failure = (await probe()) && (await sleep(PROBE_AGAIN_MS).then(probe));
  return failure
    ? `it needs a kernel that lets bpftrace in (${failure}); run it on a machine, or with CAP_BPF`
    : undefined;
}

/** Threads and handles that Node itself cannot make are made with it. */
async function python(): Promise<string | undefined> {
  return run('python3', ['-c', ''], { timeout: PROBE_MS }).then(
    () => undefined,
    () => 'it needs python3; install the package python3',
  );
}

async function tcpdump(): Promise<string | undefined> {
  const { tcpdumpPackages } = await import('../test/rig/tcpdump.ts');
  const packages = await tcpdumpPackages();
  return 'missing' in packages ? packages.missing : undefined;
}

async function shells(): Promise<string | undefined> {
  const { shellPackages } = await import('../test/rig/shell-packages.ts');
  const packages = await shellPackages();
  return 'missing' in packages ? packages.missing : undefined;
}

async function journal(): Promise<string | undefined> {
  const { journalPackages } = await import('../test/rig/synthetic-journal.ts');
  const packages = await journalPackages();
  return 'missing' in packages ? packages.missing : undefined;
}

/**
 * A build takes a quarter of an hour and gigabytes: a run of the tests only mentions it, and CI,
 * which has to run everything, has it made before the tests begin.
 */
export async function kubernetes(): Promise<string | undefined> {
  const { findBinaries } = await import('./cluster/binaries.ts');
  const { recipesWith } = await import('./cluster/kubernetes-recipes.ts');
  const { nodePackages } = await import('./cluster/node-packages.ts');
  const { imagePackages } = await import('./image/kubediag-image.ts');
  const mayBuild = process.env.KUBEDIAG_REQUIRE_ALL === '1';
  for (const { version } of recipesWith('kubelet')) {
    const binaries = await findBinaries({ kubelet: version, mayBuild });
    if ('missing' in binaries) return binaries.missing;
  }
  for (const packages of [await nodePackages(), await imagePackages()]) {
    if ('missing' in packages) return packages.missing;
  }
  return undefined;
}

/**
 * In the order in which they run in their lanes. Most tests wait most of the time, so the lanes leave each other
 * enough of two processors. With a third lane, tests with time limits failed on a slow machine.
 */
export const suites: readonly Suite[] = [
  { name: 'unit', needs: [], lane: 'machine' },
  { name: 'trace', needs: [root, namespaces, containerRuntime, bpftrace], lane: 'machine' },
  {
    name: 'runtime',
    needs: [root, namespaces, fuse, containerRuntime, journal, tcpdump],
    lane: 'machine',
  },
  { name: 'apiserver', needs: [root, namespaces, kubernetes], lane: 'machine' },
  { name: 'kernel', needs: [root, namespaces, fuse, python, shells], lane: 'machine' },
  { name: 'journeys', needs: [root, namespaces, fuse, python], lane: 'machine' },
  { name: 'cluster', needs: [root, namespaces, fuse, kubernetes, bpftrace], lane: 'cluster' },
];

/** Asks for one need after the other, so that nothing is fetched for a suite that cannot run. */
export async function missingFor(needs: readonly Need[]): Promise<string | undefined> {
  for (const need of needs) {
    const missing = await need();
    if (missing) return missing;
  }
  return undefined;
}
