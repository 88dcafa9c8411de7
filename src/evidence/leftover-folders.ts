import { defineEvidence, type Look, type Maybe } from '../model/evidence.ts';
import { attempt } from '../node/attempt.ts';
import { type Entry, type FileStatus, ReadError, type TreeFolder } from '../node/node-reader.ts';
import { type Containers, containers } from './containers.ts';
import { unlessMissing } from './file-path.ts';
import { kubelet } from './kubelet.ts';
import { type KubeletVersion, kubeletVersion } from './kubelet-version.ts';
import { type LeftoverName, leftoverName, type VolumesFolder } from './leftover-names.ts';
import { type Writers, writersBelow } from './leftover-writers.ts';
import { LEFTOVER_AGE_MS, LEFTOVER_PILE_MIN } from './limits.ts';
import { type MountNamespaces, mountNamespaces } from './mount-namespaces.ts';
import { mountsOnPaths, type PlacedMount } from './mount-places.ts';
import { type MountTable, mountTable } from './mount-table.ts';
import { type Pods, pods } from './pods.ts';
import { type VolumeMetrics, volumeMetrics } from './volume-metrics.ts';

/** One name that a teardown left behind, and what it is. */
export interface Leftover extends LeftoverName {
  /** null when it is gone by now; undefined when it was not looked at, because it is a mount. */
  readonly status?: FileStatus | null;
  readonly isEmpty?: boolean | null;
  /** What is mounted on it, in whichever namespace. */
  readonly mounts: readonly PlacedMount[];
}

/** The folder of the volume itself, which the teardown wanted to rename. */
export interface BaseFolder {
  readonly volume: string;
  readonly path: string;
  readonly mounts: readonly PlacedMount[];
  readonly modifiedMs?: number;
  /** Other pods that have a folder of the same volume. */
  readonly alsoOf: readonly string[];
}

export interface LeftoverFolder extends VolumesFolder {
  readonly leftovers: readonly Leftover[];
  readonly bases: readonly BaseFolder[];
  /** Why its entries could not be looked at: only their names are known. */
  readonly failure?: string;
}

/** What else is known of a node that has left-overs. Nothing of it is asked of one that has none. */
export interface LeftoverSurroundings {
  readonly namespaces: Maybe<MountNamespaces>;
  /** Of the kubelet's own mounts: "mnt:[4026531841]". */
  readonly ownNamespace?: string | undefined;
  /** The kernel's release: "3.10.0-1160.el7.x86_64". */
  readonly kernel: Maybe<string>;
  readonly pods: Maybe<Pods>;
  readonly containers: Maybe<Containers>;
  readonly version: Maybe<KubeletVersion>;
  readonly metrics: Maybe<VolumeMetrics>;
  readonly writers: Maybe<Writers>;
}

export interface LeftoverFolders {
  readonly origin: string;
  readonly now: Date;
  /** A left-over that is younger may belong to a teardown that is under way. */
  readonly minimumAgeMs: number;
  readonly isKubeletRunning: boolean;
  readonly folders: readonly LeftoverFolder[];
  /** Folders of volumes that could not be listed, and why. */
  readonly notRead: readonly { readonly path: string; readonly why: string }[];
  /** Absent when there is nothing that anybody would report. */
  readonly around?: LeftoverSurroundings;
}

export const leftoverFolders = defineEvidence<LeftoverFolders>({
  id: 'leftover-folders',
  title: 'Folders that unmounted volumes left behind',
  collect: async (look) => {
    const here = await look.of(kubelet);
    if (here.presence === 'absent') throw new ReadError('missing', 'the kubelet', 'none is here');
    const origin = `${here.root}/pods`;
    const view = here.process ? `/proc/${here.process.pid}/root` : '';
    const levels = ['*', 'volumes', '*'];
    const tree = await unlessMissing(look.node.ask('tree', { path: `${view}${origin}`, levels }));
    const found = (tree ?? []).flatMap((folder) => candidateIn(folder, origin) ?? []);
    const notRead = (tree ?? []).flatMap(({ folder, failure }) =>
      failure === undefined ? [] : [{ path: `${origin}/${folder}`, why: failure }],
    );
    const seen: LeftoverFolders = {
      origin,
      now: look.node.now(),
      minimumAgeMs: look.settings.minimumAgeMs ?? LEFTOVER_AGE_MS,
      isKubeletRunning: here.presence === 'running',
      folders: [],
      notRead,
    };
    if (found.length === 0) return seen;
    const looked = await entriesOf(look, found, view);
    if (!looked.some((folder) => isWorthTelling(folder, seen))) {
      return { ...seen, folders: looked.map((folder) => ({ ...folder, bases: [] })) };
    }
    return {
      ...seen,
      ...(await withSurroundings(look, looked, { tree: tree ?? [], origin, view })),
    };
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

type Looked = Candidate & Pick<LeftoverFolder, 'leftovers' | 'failure'>;

/** What is mounted in the kubelet's view is not touched: it may be dead, and it is no left-over. */
async function entriesOf(
  look: Look,
  found: readonly Candidate[],
  view: string,
): Promise<readonly Looked[]> {
  const table = await attempt(look.of(mountTable));
  const targets = new Set(table.known ? table.value.mounts.map(({ target }) => target) : []);
  return Promise.all(
    found.map(async (folder) => {
      const { path, found: leftovers } = folder;
      const names = leftovers.flatMap(({ name }) => (targets.has(`${path}/${name}`) ? [] : [name]));
      const asked = { path: `${view}${path}`, names };
      const answer = table.known ? await attempt(look.node.ask('entries', asked)) : table;
      const entries = new Map<string, Entry>(
        (answer.known ? answer.value : []).map((entry) => [entry.name, entry]),
      );
      return {
        ...folder,
        leftovers: leftovers.map((leftover) => ({
          ...leftover,
          ...factsOf(entries.get(leftover.name)),
          mounts: [],
        })),
        ...(answer.known ? {} : { failure: answer.why }),
      };
    }),
  );
}

function factsOf(entry: Entry | undefined): Pick<Leftover, 'status' | 'isEmpty'> {
  return entry ? { status: entry.status, isEmpty: entry.isEmpty } : {};
}

/** Whether there is more in a folder than files of that name and teardowns under way. */
export function isWorthTelling(
  { leftovers, failure }: Pick<LeftoverFolder, 'leftovers' | 'failure'>,
  { now, minimumAgeMs }: Pick<LeftoverFolders, 'now' | 'minimumAgeMs'>,
): boolean {
  const real = leftovers.filter(({ status }) => status === undefined || status?.type === 'folder');
  const youngest = now.getTime() - minimumAgeMs;
  return (
    (failure !== undefined && real.length > 0) ||
    isPile(real) ||
    real.some(({ status }) => !status || status.modifiedMs <= youngest)
  );
}

export function isPile(leftovers: readonly LeftoverName[]): boolean {
  return leftovers.length >= LEFTOVER_PILE_MIN || leftovers.some(({ suffixes }) => suffixes > 1);
}

interface Place {
  readonly tree: readonly TreeFolder[];
  readonly origin: string;
  readonly view: string;
}

async function withSurroundings(
  look: Look,
  looked: readonly Looked[],
  place: Place,
): Promise<Pick<LeftoverFolders, 'folders' | 'around'>> {
  const [{ process }, table, namespaces] = await Promise.all([
    look.of(kubelet),
    maybe(look.of(mountTable)),
    maybe(look.of(mountNamespaces)),
  ]);
  const mountsOn =
    table.known && namespaces.known
      ? mountsOnPaths(namespaces.value.namespaces, table.value)
      : () => [];
  const owners = ownersOf(place.tree);
  const folders = await Promise.all(
    looked.map(async (folder) => ({
      ...folder,
      leftovers: folder.leftovers.map((one) => ({
        ...one,
        mounts: mountsOn(`${folder.path}/${one.name}`),
      })),
      bases: await basesOf(look, folder, { mountsOn, owners, view: place.view }),
    })),
  );
  const bases = folders.flatMap((folder) => folder.bases);
  const [kernel, podList, held, version, metrics, writers] = await Promise.all([
    maybe(look.node.ask('file', { path: '/proc/sys/kernel/osrelease' })),
    maybe(look.of(pods)),
    maybe(look.of(containers)),
    maybe(look.of(kubeletVersion)),
    maybe(look.of(volumeMetrics)),
    usersOf(look, bases, { top: place.origin, namespaces, table }),
  ]);
  const around = {
    namespaces,
    ownNamespace: process?.mountNamespace,
    kernel,
    pods: podList,
    containers: held,
    version,
    metrics,
    writers,
  };
  return { folders, around };
}

async function usersOf(
  look: Look,
  bases: readonly BaseFolder[],
  {
    top,
    namespaces,
    table,
  }: { top: string; namespaces: Maybe<MountNamespaces>; table: Maybe<MountTable> },
): Promise<Maybe<Writers>> {
  if (!table.known) return table;
  if (!namespaces.known) return namespaces;
  const around = { top, namespaces: namespaces.value, table: table.value };
  return maybe(writersBelow(look, bases, around));
}

/** The pods that have a folder of a volume, by plugin and name. */
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

async function basesOf(
  look: Look,
  { podUid, plugin, path, names, found }: Looked,
  around: {
    readonly mountsOn: (path: string) => readonly PlacedMount[];
    readonly owners: ReadonlyMap<string, readonly string[]>;
    readonly view: string;
  },
): Promise<readonly BaseFolder[]> {
  const volumes = new Set(found.flatMap(({ volume }) => [volume, `wrapped_${volume}`]));
  const table = await attempt(look.of(mountTable));
  const own = table.known ? table.value.mounts : [];
  return Promise.all(
    names
      .filter((name) => volumes.has(name))
      .map(async (volume) => {
        const here = `${path}/${volume}`;
        const isMounted = own.some(
          ({ target }) => target === here || target.startsWith(`${here}/`),
        );
        const status =
          isMounted || !table.known
            ? undefined
            : await attempt(look.node.ask('status', { path: `${around.view}${here}` }));
        return {
          volume,
          path: here,
          mounts: around.mountsOn(here),
          ...(status?.known ? { modifiedMs: status.value.modifiedMs } : {}),
          alsoOf: (around.owners.get(`${plugin}/${volume}`) ?? []).filter((uid) => uid !== podUid),
        };
      }),
  );
}

async function maybe<T>(collecting: Promise<T>): Promise<Maybe<T>> {
  const collected = await attempt(collecting);
  return collected.known ? collected : { known: false, why: collected.why };
}
