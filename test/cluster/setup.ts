import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { names, takeDown } from '../../tools/cluster/known-clusters.ts';
import { machinesKernelSettings } from './kernel-settings.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** How the names of all clusters begin that the tests of this run start. */
    clustersOfRun: string;
    /** The kernel settings of the machine before the first of them. */
    settingsBefore: Readonly<Record<string, string>>;
  }
}

/**
 * Runs before the first and after the last test of the suite, in vitest's own process. A test of
 * starts clusters in another process; here it is only seen to that none outlives the run.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const name of (await names()).filter(isOfDeadRun)) await takeDown(name);
  const clusters = `test-${process.pid}`;
  project.provide('clustersOfRun', clusters);
  project.provide('settingsBefore', await machinesKernelSettings());
  // It works when we are gone, also by Ctrl-C, which goes to all of a terminal's session.
  const cleaner = spawn(process.execPath, [join(import.meta.dirname, 'cleaner.ts'), clusters], {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = Promise.all([text(cleaner.stderr), once(cleaner, 'exit')]);
  return async () => {
    cleaner.stdin.end();
    const [words, [code]] = (await ended) as [string, [number | null]];
    if (code !== 0) throw new Error(`something is left of the clusters of this run: ${words}`);
  };
}

/** Left by a run that ended together with its cleaner: with the machine, for instance. */
function isOfDeadRun(name: string): boolean {
  // test-812-1-36-3
  const runner = /^test-(\d+)-/.exec(name)?.[1];
  return runner !== undefined && !existsSync(`/proc/${runner}`);
}
