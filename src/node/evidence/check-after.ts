import type { Action } from '../model/action.ts';
import type { Evidence, Snapshot } from '../model/evidence.ts';
import { unloggedContainers } from './containers/unlogged-containers.ts';
import { mergedUsr } from './deletions/merged-usr.ts';
import { mountTable } from './mounts/mount-table.ts';
import { leftoverFolders } from './volumes/leftover-folders.ts';

/**
 * The snapshot as it would be after these actions. It only changes what another action waits for,
 * and what may have a remaining problem beside it. Everything else counts as repaired anyway.
 */
export function snapshotAfter(actions: readonly Action[], snapshot: Snapshot): Snapshot {
  const gone = new Set(actions.flatMap(subjectsOf));
  const changes = new Map<string, unknown>([
    change(mountTable, (table) => ({
      ...table,
      mounts: table.mounts.filter(({ id }) => !gone.has(id)),
    })),
    change(unloggedContainers, (unlogged) => ({
      ...unlogged,
      containers: unlogged.containers.filter(({ id }) => !gone.has(id)),
      listed: new Set([...unlogged.listed].filter((id) => !gone.has(id))),
    })),
    change(mergedUsr, (usr) => {
      const link = actions.find((action) => action.kind === 'restore-symlink');
      return link ? { ...usr, bin: 'link' as const, binTarget: link.target } : usr;
    }),
    change(leftoverFolders, (all) => ({
      ...all,
      folders: all.folders.map((folder) => ({
        ...folder,
        leftovers: folder.leftovers.filter(
          ({ name, status }) => !gone.has(leftoverIn(folder, `${status?.inode} ${name}`)),
        ),
      })),
    })),
  ]);
  const of = async <T>(evidence: Evidence<T>): Promise<T> => {
    const value = await snapshot.of(evidence);
    const to = changes.get(evidence.id) as ((value: T) => T) | undefined;
    return to ? to(value) : value;
  };
  return { ...snapshot, of };
}

function change<T>(evidence: Evidence<T>, to: (value: T) => T): readonly [string, unknown] {
  return [evidence.id, to];
}

/** The things that an action removes. */
function subjectsOf(action: Action): readonly (number | string)[] {
  switch (action.kind) {
    case 'unmount':
    case 'force-unmount':
      return [action.id];
    case 'remove-container':
      return [action.container];
    case 'remove-empty-directory':
      return action.leftovers.map((pinned) => leftoverIn(action, pinned));
    default:
      return [];
  }
}

function leftoverIn(
  { podUid, plugin }: { readonly podUid: string; readonly plugin: string },
  pinned: string,
): string {
  return `${podUid}/${plugin}/${pinned}`;
}
