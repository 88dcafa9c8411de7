import { expect, test } from 'vitest';
import type { Action } from '../model/action.ts';
import type { Evidence, Snapshot } from '../model/evidence.ts';
import { snapshotAfter } from './check-after.ts';
import { unloggedContainers } from './containers/unlogged-containers.ts';
import { mountTable } from './mounts/mount-table.ts';
import { leftoverFolders } from './volumes/leftover-folders.ts';

const snapshotWith = (value: unknown) => ({ of: async () => value }) as unknown as Snapshot;

function seenAfter<T>(evidence: Evidence<T>, now: unknown, action: object): Promise<T> {
  return snapshotAfter([action as Action], snapshotWith(now)).of(evidence);
}

test('removes a container from the list, so that its old log lines concern no container', async () => {
  const now = { containers: [{ id: 'c1' }, { id: 'c2' }], listed: new Set(['c1', 'c2', 'c3']) };
  const action = { kind: 'remove-container', container: 'c1' };
  const { containers, listed } = await seenAfter(unloggedContainers, now, action);
  expect(containers).toEqual([{ id: 'c2' }]);
  expect([...listed]).toEqual(['c2', 'c3']);
});

test('removes the leftover with this inode; a newer one of the same name, or of another pod, stays', async () => {
  const leftover = (inode: string) => ({ name: 'a.deleting~1', status: { inode } });
  const place = { podUid: 'u1', plugin: 'p' };
  const folders = [
    { ...place, leftovers: [leftover('7'), leftover('8')] },
    { ...place, podUid: 'u2', leftovers: [leftover('7')] },
  ];
  const action = { kind: 'remove-empty-directory', ...place, leftovers: ['7 a.deleting~1'] };
  const after = await seenAfter(leftoverFolders, { folders }, action);
  expect(after.folders.map(({ leftovers }) => leftovers)).toEqual([
    [leftover('8')],
    [leftover('7')],
  ]);
});

test('removes an unmounted or force-unmounted mount from the table', async () => {
  const mounts = [{ id: 7 }, { id: 8 }];
  for (const kind of ['unmount', 'force-unmount']) {
    const after = await seenAfter(mountTable, { mounts }, { kind, id: 7 });
    expect(after.mounts).toEqual([{ id: 8 }]);
  }
});
