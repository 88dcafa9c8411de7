import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeCgroupTree } from '../../lab/cgroups.ts';

/** A cgroup that limits memory, on a kernel with the first hierarchy of them or the second. */
export interface MemoryCgroup {
  /** Words before a program that start it inside. */
  readonly enter: readonly string[];
  readonly anonymousBytes: () => number;
  /** How often memory could not be had at once, and pages that were read again after being dropped. */
  readonly strain: () => { readonly failures: number; readonly refaults: number };
  readonly remove: () => Promise<void>;
}

const V1 = '/sys/fs/cgroup/memory';
const V2 = '/sys/fs/cgroup';

/** Undefined where none can be made, as in most containers. */
export function makeMemoryCgroup(name: string, limitBytes: number): MemoryCgroup | undefined {
  return (
    fixture(join(V1, name), 'memory.limit_in_bytes', limitBytes, name) ??
    fixture(join(V2, name), 'memory.max', limitBytes, name)
  );
}

function fixture(
  folder: string,
  limitFile: string,
  limitBytes: number,
  name: string,
): MemoryCgroup | undefined {
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, limitFile), String(limitBytes));
  } catch {
    return undefined;
  }
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  // rss 12345 (first), anon 12345 (second)
  const statistic = (names: RegExp) =>
    [...read('memory.stat').matchAll(/^(\w+) (\d+)$/gm)]
      .filter(([, key = '']) => names.test(key))
      .reduce((sum, [, , value]) => sum + Number(value), 0);
  const failures = () =>
    limitFile === 'memory.max'
      ? Number(/^max (\d+)$/m.exec(read('memory.events'))?.[1])
      : Number(read('memory.failcnt'));
  return {
    enter: ['sh', '-c', `echo $$ > ${join(folder, 'cgroup.procs')} && exec "$@"`, 'sh'],
    anonymousBytes: () => statistic(/^(rss|anon)$/),
    strain: () => ({
      failures: failures(),
      refaults: statistic(/^(workingset_refault(_file|_anon)?|pgmajfault)$/),
    }),
    remove: () => removeCgroupTree(name),
  };
}
