import { shellCommand } from '../../lib/std/shell-command.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { LEFTOVER_AGE_MS } from '../evidence/limits.ts';
import { type MountNamespaces, mountNamespaces } from '../evidence/mounts/mount-namespaces.ts';
import { mountsOnPaths } from '../evidence/mounts/mount-places.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { storedNamespaces } from '../evidence/mounts/open-mounts.ts';
import { unlessMissing } from '../evidence/text/file-path.ts';
import { leftoverName } from '../evidence/volumes/leftover-names.ts';
import { minimumAge } from '../evidence/volumes/minimum-age.ts';
import type { Action, Failure, Outcome } from '../model/action.ts';
import { attempt, optionValue, type Snapshot } from '../model/evidence.ts';
import type { Entry } from '../model/node-reader.ts';
import { usersOf } from './folder-users.ts';
import { type Handler, refused, refusedIf } from './handler.ts';
import { FOLDERS_AT_ONCE_MAX, FOLDERS_PER_SECOND_MAX } from './limits.ts';
import { FIRST_PROCESS, type ProcessPins } from './node-writer.ts';
import { foldersAbove } from './pinned-mount.ts';
import { type PinnedFolder, pinnedFolder } from './removal.ts';

type RemoveFolders = Action<'remove-empty-directory'>;

/** Removes what failed teardowns left behind: empty directories beside a volume, never the volume's own. */
export const removeEmptyDirectory: Handler<'remove-empty-directory'> = {
  async refuse(action, snapshot, writer) {
    const foreign = foreignName(action);
    if (foreign) return foreign;
    const sight = await sightOf(action, snapshot);
    const way = (await otherPath(sight)) ?? (await unseenNamespaces(sight));
    if (way) return way;
    const stored = await objections(action, sight);
    if (stored.size < action.leftovers.length) {
      const [what, todo] = ['we cannot remove directories here', 'remove them manually'];
      return refusedIf(writer.cannotRemoveFolders(), what, todo, manual(sight));
    }
    if ([...stored.values()].every((why) => why === null)) {
      return { state: 'done', note: 'nothing to do: they are gone already' };
    }
    const what = 'none of the leftover directories may be removed';
    return refused(what, removalReasons(stored), RESOLVE);
  },

  async shortfall(action, snapshot) {
    const sight = await sightOf(action, snapshot);
    return shortfallOf(await objections(action, sight));
  },

  async act(action, writer, snapshot, { freshSnapshot, onProgress, stop }) {
    const sight = await sightOf(action, snapshot);
    const stored = new Map(await objections(action, sight));
    const pinned = foldersOf(action).filter(({ name }) => !stored.has(name));
    let isUnending = false;
    let broken: string | undefined;
    for (let start = 0; start < pinned.length && broken === undefined; ) {
      if (stop?.aborted) broken = 'you asked to stop';
      if (broken !== undefined) break;
      const some = pinned.slice(start, start + FOLDERS_AT_ONCE_MAX);
      // Anybody may have mounted something meanwhile, and rmdir would take it away elsewhere.
      const mounts = await attempt(mountedOf(await sightOf(action, freshSnapshot()), some));
      if (!mounts.known) broken = `the mount tables could not be read again: ${mounts.why}`;
      else {
        for (const [name, why] of mounts.value) stored.set(name, why);
        const removal = await writer.removeFolders(
          {
            folder: sight.folder,
            leftovers: some.filter(({ name }) => !stored.has(name)),
            changedUntilMs: sight.changedUntilMs,
            perSecond: FOLDERS_PER_SECOND_MAX,
          },
          sight.process,
        );
        for (const [name, why] of removal.removed) if (why !== null) stored.set(name, why);
        ({ broken } = removal);
        isUnending = removal.isUnending ?? false;
        start += some.length;
        onProgress?.({ done: start, total: pinned.length });
      }
    }
    const shortfall = shortfallOf(stored, broken);
    return shortfall && { ...shortfall, isUnending };
  },

  async isDone(action, snapshot, before) {
    const sight = await sightOf(action, snapshot);
    const entries = await entriesOf(action, sight);
    // What is not among them is a mount point, and exists; a recreated one exists too, and is reported.
    const left = foldersOf(action).filter(({ name }) => entries.get(name)?.status !== null);
    const count = action.leftovers.length;
    const seen =
      left.length === 0
        ? `all ${count} directories are gone`
        : `${left.length} of ${count} are there`;
    const lost = before ? await lostMounts(await sightOf(action, before), sight) : [];
    const gone = `${count - left.length} leftover directories are gone`;
    const beside =
      lost.length > 0 ? `${gone}; meanwhile these mounts went too: ${lost.join(', ')}` : gone;
    return { isDone: left.length === 0, seen, beside };
  },
};

/** What every step stands on. */
interface Observation {
  readonly snapshot: Snapshot;
  readonly process: ProcessPins;
  readonly view: string;
  readonly folder: string;
  readonly namespaces: MountNamespaces;
  readonly changedUntilMs: number;
}

async function sightOf(
  { podUid, plugin }: RemoveFolders,
  snapshot: Snapshot,
): Promise<Observation> {
  const { root, process } = await snapshot.of(kubelet);
  const age = optionValue(minimumAge, snapshot.settings) ?? LEFTOVER_AGE_MS;
  return {
    snapshot,
    process: process ?? FIRST_PROCESS,
    view: process ? `/proc/${process.pid}/root` : '',
    folder: `${root}/pods/${podUid}/volumes/${plugin}`,
    namespaces: await snapshot.of(mountNamespaces),
    changedUntilMs: snapshot.node.now().getTime() - age,
  };
}

function foldersOf({ leftovers }: RemoveFolders): readonly PinnedFolder[] {
  return leftovers.flatMap((text) => pinnedFolder(text) ?? []);
}

// 29da79e5-386c-4e0d-82c1-215f93ff955d, transwarp.io~tosdisk
const ONE_NAME = /^(?!\.{1,2}$)[^/\0]+$/;

function foreignName({ podUid, plugin, leftovers }: RemoveFolders): Outcome | undefined {
  const isOurs = (text: string) => leftoverName(pinnedFolder(text)?.name ?? '') !== undefined;
  const foreign = leftovers.find((text) => !isOurs(text));
  if (foreign === undefined && ONE_NAME.test(podUid) && ONE_NAME.test(plugin)) return undefined;
  return refused(
    `${foreign ?? `${podUid}/${plugin}`} is no leftover of a volume`,
    'those are called NAME.deleting~NUMBER, beside the directory of the volume',
    'nothing: no other directory is removed by us',
  );
}

/** The remover follows no link, so neither may the path that is checked. */
async function otherPath({ snapshot, view, folder }: Observation): Promise<Outcome | undefined> {
  for (const path of [...foldersAbove(folder), folder]) {
    const asked = snapshot.node.ask('status', { path: `${view}${path}` });
    const status = await unlessMissing(asked);
    if (!status) return { state: 'done', note: `nothing to do: ${path} is gone already` };
    if (status.type === 'folder') continue;
    const why = `${path} is a ${status.type}, and no directory`;
    return refused('the path of the leftovers leads elsewhere', why, 'find out who made it so');
  }
  return undefined;
}

async function unseenNamespaces(sight: Observation): Promise<Outcome | undefined> {
  const notSeen = [...sight.namespaces.notSeen, ...(await storedNamespaces(sight.snapshot))];
  if (notSeen.length === 0) return undefined;
  return refused(
    'not every mount namespace can be seen',
    `what is mounted there would be taken away with the directory: ${notSeen.slice(0, 3).join('; ')}`,
    'run it as root on the node itself, where every mount namespace can be seen',
  );
}

async function entriesOf(
  action: RemoveFolders,
  { snapshot, view, folder }: Observation,
): Promise<ReadonlyMap<string, Entry>> {
  // What is mounted in the kubelet's view may be dead, and is not touched.
  const { mounts } = await snapshot.of(mountTable);
  const targets = new Set(mounts.map(({ target }) => target));
  const names = foldersOf(action).map(({ name }) => name);
  const asked = names.filter((name) => !targets.has(`${folder}/${name}`));
  const question = { path: `${view}${folder}`, names: asked };
  const entries =
    (await unlessMissing(snapshot.node.ask('entries', question))) ??
    // With its directory everything in it is gone.
    names.map((name) => ({ name, status: null, isEmpty: null }));
  return new Map(entries.map((entry) => [entry.name, entry]));
}

/** By name: why a directory must stay; null when it is gone. What is not named may be removed. */
async function objections(
  action: RemoveFolders,
  sight: Observation,
): Promise<ReadonlyMap<string, string | null>> {
  const pinned = foldersOf(action);
  const entries = await entriesOf(action, sight);
  const stored = new Map<string, string | null>(await mountedOf(sight, pinned));
  for (const folder of pinned) {
    const why = objectionTo(folder, entries.get(folder.name), sight);
    if (why !== undefined && !stored.has(folder.name)) stored.set(folder.name, why);
  }
  const rest = pinned.filter(({ name }) => !stored.has(name)).map(({ name }) => name);
  for (const [name, why] of await usersOf(rest, sight)) stored.set(name, why);
  return stored;
}

function objectionTo(
  { inode }: PinnedFolder,
  entry: Entry | undefined,
  { changedUntilMs }: Observation,
): string | null | undefined {
  if (!entry) return 'something is mounted on it';
  const { status, isEmpty } = entry;
  if (!status) return null;
  if (status.type !== 'folder') return 'it is no directory';
  if (status.inode !== inode) return 'it was recreated since it was diagnosed';
  if (isEmpty !== true) return 'it is not empty';
  return status.modifiedMs > changedUntilMs ? 'it is too young' : undefined;
}

async function mountedOf(
  { snapshot, folder, namespaces }: Observation,
  pinned: readonly PinnedFolder[],
): Promise<ReadonlyMap<string, string>> {
  const mountsOn = mountsOnPaths(namespaces.namespaces, await snapshot.of(mountTable));
  const mounted = new Map<string, string>();
  for (const { name } of pinned) {
    const [first] = mountsOn(`${folder}/${name}`);
    if (!first) continue;
    const { processName, pid } = first.namespace;
    mounted.set(name, `something is mounted on it by ${processName} (pid ${pid})`);
  }
  return mounted;
}

const NAMES_SHOWN_MAX = 3;

/** "2 stay because it is not empty: a.deleting~1, b.deleting~2; ...": each reason once. */
function removalReasons(stored: ReadonlyMap<string, string | null>): string {
  const staying = [...stored].filter(([, why]) => why !== null);
  return [...Map.groupBy(staying, ([, why]) => why)]
    .map(([why, some]) => {
      const names = some.slice(0, NAMES_SHOWN_MAX).map(([name]) => name);
      const more = some.length > NAMES_SHOWN_MAX ? ' ...' : '';
      const stay = some.length === 1 ? 'stays' : 'stay';
      return `${some.length} ${stay}, for ${why}: ${names.join(', ')}${more}`;
    })
    .join('; ');
}

const RESOLVE = 'resolve what blocks them; then run kubediag check again';

function shortfallOf(
  stored: ReadonlyMap<string, string | null>,
  broken?: string,
): Failure | undefined {
  const reported = removalReasons(stored);
  if (broken === undefined && reported === '') return undefined;
  return {
    what: 'not all of the leftover directories could be removed',
    why: [broken, reported].filter(Boolean).join('; '),
    todo: RESOLVE,
  };
}

/** Mounts in the pod's directory of this plugin, in any namespace, that were there and are not now. */
async function lostMounts(before: Observation, after: Observation): Promise<readonly string[]> {
  const linesOf = ({ namespaces, folder }: Observation) => {
    const end = `${folder.slice(folder.lastIndexOf('/pods/'))}/`;
    return namespaces.namespaces.flatMap(({ namespace, table }) =>
      table.mounts
        .filter(({ target }) => target.includes(end))
        .map(({ id, device, target }) => `${target} (mount ${id} of ${namespace}, ${device})`),
    );
  };
  const now = new Set(linesOf(after));
  return linesOf(before).filter((line) => !now.has(line));
}

function manual({ folder }: Observation) {
  return {
    commands: [shellCommand(['rmdir', '--', `${folder}/NAME.deleting~NUMBER`])],
    risk:
      'rmdir takes away what other mount namespaces have mounted on the directory; look for it in ' +
      '/proc/*/mountinfo first, and never use rm -r: what is left in a directory may be data',
  };
}
