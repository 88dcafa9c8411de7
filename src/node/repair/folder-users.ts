import { mapAtOnce } from '../../lib/std/map-at-once.ts';
import type { MountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { pathsOf, shownAt } from '../evidence/mounts/mount-places.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { unlessMissing } from '../evidence/text/file-path.ts';
import type { Snapshot } from '../model/evidence.ts';
import { ReadError } from '../model/node-reader.ts';
import { HOLDER_PROCESSES_MAX, PROCESSES_AT_ONCE_MAX } from './limits.ts';

/** By name: which process works in a directory, or has it open, in whichever mount namespace. */
export async function usersOf(
  names: readonly string[],
  sight: {
    readonly snapshot: Snapshot;
    readonly folder: string;
    readonly namespaces: MountNamespaces;
  },
): Promise<ReadonlyMap<string, string>> {
  const { snapshot, folder, namespaces } = sight;
  const users = new Map<string, string>();
  const place = shownAt(folder, await snapshot.of(mountTable));
  if (!place || names.length === 0) return users;
  const wanted = new Set(names);
  const asked = namespaces.namespaces.flatMap(({ pids, table }) => {
    const under = pathsOf(place, table);
    return under.length === 0 ? [] : pids.map((pid) => ({ pid, under }));
  });
  if (asked.length > HOLDER_PROCESSES_MAX) {
    throw new ReadError('too-large', '/proc', `more than ${HOLDER_PROCESSES_MAX} processes`);
  }
  await mapAtOnce(asked, PROCESSES_AT_ONCE_MAX, async ({ pid, under }) => {
    const question = { filesOf: pid, under, mountIds: [] };
    // A process that has ended holds nothing.
    const files = (await unlessMissing(snapshot.node.ask('openFiles', question))) ?? [];
    for (const { by, path } of files) {
      const top = under.find((one) => path.startsWith(`${one}/`)) ?? '';
      const name = path.slice(top.length + 1).split('/')[0] ?? '';
      if (wanted.has(name)) users.set(name, `process ${pid} uses it (${by})`);
    }
  });
  return users;
}
