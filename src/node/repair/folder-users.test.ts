import { expect, test } from 'vitest';
import { ROOT_LINE, SyntheticRepair } from '../../../test/synthetic-repair.ts';
import { parseMountTable } from '../evidence/mounts/mount-table.ts';
import type { OpenFile, ReadFailure } from '../model/node-reader.ts';
import { usersOf } from './folder-users.ts';
import { HOLDER_PROCESSES_MAX } from './limits.ts';

const FOLDER = '/var/lib/kubelet/pods/6f1c2a9e/volumes/kubernetes.io~nfs';
const NAME = 'a.deleting~1';

/** A process, and its open files or why they cannot be read. */
type Process = readonly [pid: number, files: readonly OpenFile[] | ReadFailure];

function usersAmong(processes: readonly Process[]) {
  const fixture = new SyntheticRepair();
  for (const [pid, files] of processes) {
    const recorded = typeof files === 'string' ? { failure: files } : { answer: files };
    fixture.node.set('openFiles', { filesOf: pid, under: [FOLDER], mountIds: [] }, recorded);
  }
  const table = parseMountTable(`${ROOT_LINE}\n`, '/proc/1/mountinfo');
  const shown = { namespace: 'mnt:[1]', processName: 'systemd', cgroups: ['/'], root: '/', table };
  const pids = processes.map(([pid]) => pid);
  const namespaces = { namespaces: [{ ...shown, pid: 1, pids }], notSeen: [] };
  return usersOf([NAME], { snapshot: fixture.repair.snapshot(), folder: FOLDER, namespaces });
}

const USER = [{ by: 'cwd', path: `${FOLDER}/${NAME}` }];

test('a process that has ended uses nothing, and the others are still asked', async () => {
  const users = await usersAmong([
    [40, 'missing'],
    [41, USER],
  ]);
  expect([...users]).toEqual([[NAME, 'process 41 uses it (cwd)']]);
});

test.each(['timeout', 'denied', 'too-large', 'not-asked', 'failed'] as const)(
  'a process whose open files cannot be read is an error, and not a process without any: %s',
  async (failure) => {
    const users = usersAmong([
      [40, []],
      [41, failure],
    ]);
    await expect(users).rejects.toMatchObject({ name: 'ReadError', failure });
  },
);

test('as many processes as the limit are all asked, and one more is an error', async () => {
  const others = Array.from({ length: HOLDER_PROCESSES_MAX - 1 }, (_, index): Process => {
    return [1000 + index, []];
  });
  const most: readonly Process[] = [...others, [40, USER]];
  expect((await usersAmong(most)).size).toBe(1);
  await expect(usersAmong([...most, [41, []]])).rejects.toMatchObject({
    failure: 'too-large',
    message: `/proc: more than ${HOLDER_PROCESSES_MAX} processes`,
  });
});
