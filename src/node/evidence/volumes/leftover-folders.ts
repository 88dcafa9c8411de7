import { defined } from '../../../lib/std/defined.ts';
import { attempt, defineEvidence, optionValue, type Snapshot } from '../../model/evidence.ts';
import {
  type Entry,
  type FileStatus,
  ReadError,
  type TreeFolder,
} from '../../model/node-reader.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { LEFTOVER_AGE_MS, LEFTOVER_PILE_MIN } from '../limits.ts';
import { mountNamespaces } from '../mounts/mount-namespaces.ts';
import { mountsOnPaths, type PlacedMount } from '../mounts/mount-places.ts';
import { mountTable } from '../mounts/mount-table.ts';
import { isWithin, unlessMissing } from '../text/file-path.ts';
import {
  type LeftoverName,
  leftoverName,
  type VolumesFolder,
  volumeFolderNames,
} from './leftover-names.ts';
import { type LeftoverSurroundings, leftoverSurroundings } from './leftover-surroundings.ts';
import { minimumAge } from './minimum-age.ts';

/** A name that a teardown left behind, and its status. */
export interface Leftover extends LeftoverName {
  /** null if it is gone; undefined if it was not read, because it is a mount point. */
  readonly status?: FileStatus | null;
  readonly isEmpty?: boolean | null;
  /** The mounts on it, in any namespace. */
  readonly mounts: readonly PlacedMount[];
}

/** The directory of the volume, which the teardown tried to rename. */
export interface BaseFolder {
  readonly volume: string;
  readonly path: string;
  readonly mounts: readonly PlacedMount[];
  readonly modifiedMs?: number;
  /** Other pods with a directory of the same volume. */
  readonly alsoOf: readonly string[];
}

export interface LeftoverFolder extends VolumesFolder {
  readonly leftovers: readonly Leftover[];
  readonly bases: readonly BaseFolder[];
  /** Why its entries could not be read: only their names are known. */
  readonly error?: ReadError;
}

export interface LeftoverFolders {
  readonly podsFolder: string;
  readonly now: Date;
  /** A younger leftover may belong to a running teardown. */
  readonly minimumAgeMs: number;
  readonly isKubeletRunning: boolean;
  readonly folders: readonly LeftoverFolder[];
  /** Volume directories that could not be listed, and why. */
  readonly notRead: readonly { readonly path: string; readonly why: string }[];
  /** Not set if there is nothing to report. */
  readonly around?: LeftoverSurroundings;
}

export const leftoverFolders = defineEvidence<LeftoverFolders>({
  id: 'leftover-folders',
  title: 'Directories that unmounted volumes left behind',
  command: 'ls -f /var/lib/kubelet/pods/*/volumes/*',
  isDerived: true,
  collect: async (snapshot) => {
    const here = await snapshot.of(kubelet);
    if (here.presence === 'absent') throw new ReadError('missing', 'the kubelet', 'none is here');
    const podsFolder = `${here.root}/pods`;
    const view = here.process ? `/proc/${here.process.pid}/root` : '';
    const levels = ['*', 'volumes', '*'];
    const asked = snapshot.node.ask('tree', { path: `${view}${podsFolder}`, levels });
    const tree = (await unlessMissing(asked)) ?? [];
    const found = tree.flatMap((folder) => candidateIn(folder, podsFolder) ?? []);
    const notRead = tree.flatMap(({ folder, failure }) =>
      failure === undefined ? [] : [{ path: `${podsFolder}/${folder}`, why: failure }],
    );
    const seen: LeftoverFolders = {
      podsFolder,
      now: snapshot.node.now(),
      minimumAgeMs: optionValue(minimumAge, snapshot.settings) ?? LEFTOVER_AGE_MS,
      isKubeletRunning: here.presence === 'running',
      folders: [],
      notRead,
    };
    if (found.length === 0) return seen;
    const looked = await entriesOf(snapshot, found, view);
    if (!looked.some((folder) => isWorthReporting(folder, seen))) {
      return { ...seen, folders: looked.map((folder) => ({ ...folder, bases: [] })) };
    }
    const folders = await withBases(snapshot, looked, ownersOf(tree), view);
    return { ...seen, folders, around: await leftoverSurroundings(snapshot, folders, podsFolder) };
  },
});

interface Candidate extends VolumesFolder {
  readonly names: readonly string[];
  readonly found: readonly LeftoverName[];
}

// 29da79e5-386c-4e0d-82c1-215f93ff955d/volumes/kubernetes.io~csi
function candidateIn({ folder, names }: TreeFolder, top: string): Candidate | undefined {
  const found = names.flatMap((name) => leftoverName(name) ?? []);
  const [podUid, , plugin] = folder.split('/');
  if (found.length === 0 || podUid === undefined || plugin === undefined) return undefined;
  return { podUid, plugin, path: `${top}/${folder}`, names, found };
}

type CheckResult = Candidate & Pick<LeftoverFolder, 'leftovers' | 'error'>;

/** A mount point in the kubelet's view is not accessed: it may be dead, and is not a leftover. */
async function entriesOf(
  snapshot: Snapshot,
  found: readonly Candidate[],
  view: string,
): Promise<readonly CheckResult[]> {
  const table = await attempt(snapshot.of(mountTable));
  const targets = new Set(table.known ? table.value.mounts.map(({ target }) => target) : []);
  return Promise.all(
    found.map(async (folder) => {
      const { path, found: leftovers } = folder;
      const names = leftovers.flatMap(({ name }) => (targets.has(`${path}/${name}`) ? [] : [name]));
      const asked = { path: `${view}${path}`, names };
      const answer = table.known ? await attempt(snapshot.node.ask('entries', asked)) : table;
      const entries = new Map<string, Entry>(
        (answer.known ? answer.value : []).map((entry) => [entry.name, entry]),
      );
      return {
        ...folder,
        leftovers: leftovers.map((leftover) => {
          const { status, isEmpty } = entries.get(leftover.name) ?? {};
          return defined({ ...leftover, status, isEmpty, mounts: [] });
        }),
        ...(answer.known ? {} : { error: answer.error }),
      };
    }),
  );
}

/** Whether a directory has leftovers other than plain files and running teardowns. */
export function isWorthReporting(
  { leftovers, error }: Pick<LeftoverFolder, 'leftovers' | 'error'>,
  { now, minimumAgeMs }: Pick<LeftoverFolders, 'now' | 'minimumAgeMs'>,
): boolean {
  const real = leftovers.filter(({ status }) => status === undefined || status?.type === 'folder');
  const youngest = now.getTime() - minimumAgeMs;
  return (
    (error !== undefined && real.length > 0) ||
    isPile(real) ||
    real.some(({ status }) => !status || status.modifiedMs <= youngest)
  );
}

export function isPile(leftovers: readonly LeftoverName[]): boolean {
  return leftovers.length >= LEFTOVER_PILE_MIN || leftovers.some(({ suffixes }) => suffixes > 1);
}

async function withBases(
  snapshot: Snapshot,
  looked: readonly CheckResult[],
  owners: ReadonlyMap<string, readonly string[]>,
  view: string,
): Promise<readonly LeftoverFolder[]> {
  const [table, namespaces] = await Promise.all([
    attempt(snapshot.of(mountTable)),
    attempt(snapshot.of(mountNamespaces)),
  ]);
  const own = table.known ? table.value.mounts : undefined;
  const mountsOn =
    table.known && namespaces.known
      ? mountsOnPaths(namespaces.value.namespaces, table.value)
      : () => [];
  const baseOf = async ({ podUid, plugin, path }: CheckResult, volume: string) => {
    const here = `${path}/${volume}`;
    const isUnmounted = own && !own.some(({ target }) => isWithin(target, here));
    const asked = { path: `${view}${here}` };
    const status = isUnmounted ? await attempt(snapshot.node.ask('status', asked)) : undefined;
    const alsoOf = (owners.get(`${plugin}/${volume}`) ?? []).filter((uid) => uid !== podUid);
    const modifiedMs = status?.known ? status.value.modifiedMs : undefined;
    return defined({ volume, path: here, mounts: mountsOn(here), modifiedMs, alsoOf });
  };
  return Promise.all(
    looked.map(async (folder) => {
      const volumes = volumeFolderNames(folder.found);
      const names = folder.names.filter((name) => volumes.has(name));
      return {
        ...folder,
        leftovers: folder.leftovers.map((one) => {
          const mounts = mountsOn(`${folder.path}/${one.name}`);
          return mounts.length > 0 ? { ...one, mounts } : one;
        }),
        bases: await Promise.all(names.map((volume) => baseOf(folder, volume))),
      };
    }),
  );
}

/** The pods with a directory of a volume, by plugin and name. */
function ownersOf(tree: readonly TreeFolder[]): ReadonlyMap<string, readonly string[]> {
  const owners = new Map<string, string[]>();
  for (const { folder, names } of tree) {
    const [podUid = '', , plugin = ''] = folder.split('/');
    for (const name of names) {
      if (name.includes('.deleting~')) continue;
      const key = `${plugin}/${name}`;
      const known = owners.get(key);
      if (known) known.push(podUid);
      else owners.set(key, [podUid]);
    }
  }
  return owners;
}
