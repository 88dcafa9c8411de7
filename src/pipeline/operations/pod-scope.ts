import { listAt, textAt } from '../../lib/std/json.ts';
import { shortId } from '../../lib/std/short-id.ts';
import type { PodName } from '../../node/checkup/judge-faults.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import {
  type Containers,
  containers,
  nanoseconds,
} from '../../node/evidence/containers/containers.ts';
import { runtime } from '../../node/evidence/containers/runtime.ts';
import { readPodItems } from '../../node/evidence/pods/pods.ts';
import type { Action } from '../../node/model/action.ts';
import { attempt, type Snapshot } from '../../node/model/evidence.ts';
import { ReadError } from '../../node/model/node-reader.ts';

/** A pod as this node knows it: a step of a Diagnosis that names it sees and changes nothing else. */
export interface PodScope extends PodName {
  /** A pod with the same name and another UID is another pod. */
  readonly uid: string;
  /** The ids of its sandboxes and containers. */
  readonly ids: ReadonlySet<string>;
  /** How a text may name other pods of this node and their containers. */
  readonly others: ReadonlySet<string>;
}

interface KnownPod extends PodName {
  readonly uid: string;
}

/** The pod of a Diagnosis, from the kubelet's list or else from the runtime. */
export async function podScopeOn(
  { node, settings }: Pick<Snapshot, 'node' | 'settings'>,
  pod: PodName,
): Promise<PodScope | { readonly why: string }> {
  const snapshot = takeSnapshot(node, settings);
  const read = (item: unknown): KnownPod => ({
    uid: textAt(item, 'metadata', 'uid') ?? '',
    namespace: textAt(item, 'metadata', 'namespace') ?? 'default',
    name: textAt(item, 'metadata', 'name') ?? '',
  });
  const [listed, held] = await Promise.all([
    attempt(readPodItems(snapshot, read)),
    attempt(snapshot.of(containers)),
  ]);
  const pods = listed.known ? listed.value.items : [];
  const inRuntime: Containers = held.known ? held.value : { containers: [], sandboxes: [] };
  const isNamed = (each: PodName) => each.namespace === pod.namespace && each.name === pod.name;
  const listedUids = new Set(pods.filter(isNamed).map(({ uid }) => uid));
  const uids = listedUids.size > 0 ? listedUids : runtimeUids(inRuntime, pod);
  const [uid] = uids;
  if (uid && uids.size === 1) return scopeOf({ ...pod, uid }, pods, inRuntime);
  if (uids.size > 1) return { why: `the node has ${uids.size} pods of this name` };
  const whys = [
    listed.known ? 'the kubelet does not list it' : `pods of the kubelet: ${listed.why}`,
    held.known ? 'the runtime has no sandbox of it' : `sandboxes of the runtime: ${held.why}`,
  ];
  return { why: whys.join('; ') };
}

/** The sandboxes of a pod that was created again under its name are there until they are collected. */
function runtimeUids({ sandboxes }: Containers, { namespace, name }: PodName): ReadonlySet<string> {
  const named = sandboxes.filter(
    ({ podNamespace, podName }) => podNamespace === namespace && podName === name,
  );
  const ready = named.filter(({ isReady }) => isReady);
  return new Set((ready.length > 0 ? ready : named).map(({ podUid }) => podUid));
}

function scopeOf(
  pod: KnownPod,
  pods: readonly KnownPod[],
  { sandboxes, containers: all }: Containers,
): PodScope {
  const inRuntime = [...sandboxes, ...all].map(({ podUid, podNamespace, podName, id }) => ({
    ...{ uid: podUid, namespace: podNamespace, name: podName, id },
  }));
  const own = inRuntime.filter(({ uid }) => uid === pod.uid);
  const foreign: readonly (KnownPod & { readonly id?: string })[] = [...pods, ...inRuntime];
  const ownNames = new Set(namesOf(pod));
  const others = foreign
    .filter(({ uid }) => uid !== pod.uid)
    .flatMap(({ id, ...each }) => [...namesOf(each), ...(id ? [id, shortId(id)] : [])])
    .filter((text) => text !== '' && !ownNames.has(text));
  return { ...pod, ids: new Set(own.map(({ id }) => id)), others: new Set(others) };
}

/** "shop/web-0", "web-0_shop" as in logs of the kubelet, and the UID as cgroups of systemd have it. */
function namesOf({ uid, namespace, name }: KnownPod): readonly string[] {
  const uids = [uid, uid.replaceAll('-', '_')];
  return name === '' ? uids : [...uids, `${namespace}/${name}`, `${name}_${namespace}`];
}

/** Whether a text names something of another pod, also of one that the node has forgotten. */
export function namesOther(text: string, scope: PodScope): boolean {
  const { uid, namespace, name, ids, others } = scope;
  const ownFolders = [uid, `${namespace}_${name}_${uid}`];
  // /var/lib/kubelet/pods/29da79e5-.../volumes, /var/log/pods/shop_web-0_29da79e5-.../app/0.log
  for (const [, folder = ''] of text.matchAll(/\/pods\/([^/\s"',;:)]+)/g)) {
    if (!ownFolders.includes(folder)) return true;
  }
  // The id of a container, and not the digest of an image.
  for (const [id] of text.matchAll(/(?<!sha256:|[\da-f])[\da-f]{64}(?![\da-f])/g)) {
    if (!ids.has(id)) return true;
  }
  return [...others].some((other) => hasWord(text, other));
}

// 29da79e5_386c_4e0d_82c1_215f93ff955d
const UID_OF_CGROUP = /^[\da-f]{8}(?:_[\da-f]{4}){3}_[\da-f]{12}$/;

/** "shop/web" is not in "shop/web-0". An id may be part of a longer one, or of a path. */
function hasWord(text: string, word: string): boolean {
  const isId = !/[/_]/.test(word) || UID_OF_CGROUP.test(word);
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (isId) return true;
    const [before, after] = [text.slice(0, at), text.slice(at + word.length)];
    if (!/[\w-]$/.test(before) && !/^(?:[\w-]|\.\w)/.test(after)) return true;
  }
  return false;
}

/** When the oldest sandbox of the pod was created: "2026-05-28T17:40:00.000Z". */
export async function podBegan(snapshot: Snapshot, scope: PodScope): Promise<string> {
  const { socket } = await snapshot.of(runtime);
  const { message } = await snapshot.node.ask('runtime', { socket, call: 'ListPodSandbox' });
  const own = (listAt(message, 'items') ?? []).filter((each) =>
    scope.ids.has(textAt(each, 'id') ?? ''),
  );
  const times = own.map((each) => Number(nanoseconds(textAt(each, 'createdAt')) / 1_000_000n));
  if (times.length > 0) return new Date(Math.min(...times)).toISOString();
  throw new ReadError('missing', 'CRI ListPodSandbox', 'the pod has no sandbox');
}

/** Whether a path of the node is in a directory of this pod, or of a container of it. */
export function isPathOf(path: string, { uid, ids }: PodScope): boolean {
  const parts = path.split('/');
  const at = parts.indexOf('pods');
  // Paths of volumes have names that their pod chooses; only the first match is the kubelet's.
  if (at >= 0) return parts[at + 1] === uid;
  const id = parts.find((part) => /^[\da-f]{64}$/.test(part));
  return id !== undefined && ids.has(id);
}

/** Whether an action changes this pod only. */
export function isActionOn(action: Action, scope: PodScope): boolean {
  switch (action.kind) {
    case 'unmount':
      return isPathOf(action.target, scope);
    case 'force-unmount':
      return action.podUid === scope.uid && isPathOf(action.target, scope);
    case 'set-aside':
    case 'remove-empty-directory':
      return action.podUid === scope.uid;
    case 'remove-container':
      return scope.ids.has(action.container) && scope.ids.has(action.sandbox);
    case 'restore-symlink':
      return false;
  }
}
