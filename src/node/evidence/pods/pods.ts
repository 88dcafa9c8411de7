import { fieldAt, listAt, numberAt, textAt } from '../../../lib/std/json.ts';
import { JsonLimitError, mapJsonItems, parseJson } from '../../../lib/std/parse-json.ts';
import { defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { type KubeletPage, ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { askPage, firstAnswer, pagesOf, requireRunning } from '../kubelet/kubelet-page.ts';

/** A pod in the kubelet's list. Its container states are those last sent to the API server. */
export interface Pod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly isTerminating: boolean;
  /** Whether it comes from the API server. A static pod comes from a file or a URL. */
  readonly isFromApi: boolean;
  /** Succeeded or Failed: its containers are not started again. */
  readonly isFinished: boolean;
  readonly restartPolicy: string;
  readonly initContainers: readonly string[];
  readonly volumes: readonly PodVolume[];
  readonly containerStatuses: readonly PodContainerStatus[];
}

export interface PodVolume {
  readonly name: string;
  /** configMap, secret, projected, downwardAPI, emptyDir... as in the pod spec. */
  readonly kind: string;
  /** The name of the API object that it is created from, if any. */
  readonly object?: string | undefined;
}

export interface PodContainerStatus {
  readonly name: string;
  readonly restartCount: number;
  /** Why it could not be created or started, without termination messages of the program. */
  readonly messages: readonly string[];
}

export interface Pods {
  readonly pods: readonly Pod[];
  readonly origin: Origin;
}

export const pods = defineEvidence<Pods>({
  id: 'pods',
  title: 'Pods as the kubelet lists them',
  command: 'kubectl get pods -A -o json --field-selector spec.nodeName=NODE',
  collect: async (snapshot) => {
    const { items, origin } = await readPodItems(snapshot, parsePod);
    return { pods: items, origin };
  },
});

/** Applies `each` to every pod in the kubelet's list, which has all fields of the API object. */
export async function readPodItems<T>(
  snapshot: Snapshot,
  each: (item: unknown, origin: string | Origin) => T,
): Promise<PodItems<T>> {
  const pages = pagesOf(await requireRunning(snapshot), '/pods');
  const ifNone = 'none of its ports is open, or it did not say which';
  const read = (page: KubeletPage) => askPods(snapshot, page, each);
  return firstAnswer(pages, read, 'pods of the kubelet', ifNone);
}

interface PodItems<T> {
  readonly items: readonly T[];
  readonly origin: Origin;
}

async function askPods<T>(
  snapshot: Snapshot,
  page: KubeletPage,
  each: (item: unknown, origin: string | Origin) => T,
): Promise<PodItems<T>> {
  const { status, body, origin } = await askPage(snapshot, page);
  if (status !== 200) throw new ReadError('failed', origin, `HTTP ${status}`);
  return { items: itemsIn(body, origin, each), origin };
}

export function parsePods(body: string, origin: string | Origin): readonly Pod[] {
  return itemsIn(body, origin, parsePod);
}

function itemsIn<T>(
  body: string,
  origin: string | Origin,
  each: (item: unknown, origin: string | Origin) => T,
): readonly T[] {
  // One after another: all at once would take more memory than the rest of a check.
  const parsed = asJson(origin, () => mapJsonItems(body, 'items', (item) => each(item, origin)));
  if (parsed) return parsed;
  const list = asJson(origin, () => parseJson(body));
  // A kubelet without pods writes null for an empty list.
  if (fieldAt(list, 'items') === null) return [];
  const items = listAt(list, 'items');
  if (!items) throw new ReadError('malformed', origin, 'it is not a list of pods');
  return items.map((item) => each(item, origin));
}

function asJson<T>(origin: string | Origin, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const why = cause instanceof JsonLimitError ? cause.message : 'it is not JSON';
    throw new ReadError('malformed', origin, why, { cause });
  }
}

function parsePod(item: unknown, origin: string | Origin): Pod {
  const uid = textAt(item, 'metadata', 'uid');
  const name = textAt(item, 'metadata', 'name');
  if (!uid || !name) throw new ReadError('malformed', origin, 'a pod has no name or no UID');
  const phase = textAt(item, 'status', 'phase');
  return {
    uid,
    name,
    namespace: textAt(item, 'metadata', 'namespace') ?? 'default',
    isTerminating: textAt(item, 'metadata', 'deletionTimestamp') !== undefined,
    isFromApi: textAt(item, 'metadata', 'annotations', 'kubernetes.io/config.source') === 'api',
    isFinished: phase === 'Succeeded' || phase === 'Failed',
    restartPolicy: textAt(item, 'spec', 'restartPolicy') ?? 'Always',
    initContainers: (listAt(item, 'spec', 'initContainers') ?? []).flatMap(
      (container) => textAt(container, 'name') ?? [],
    ),
    volumes: (listAt(item, 'spec', 'volumes') ?? []).map(parseVolume),
    containerStatuses: STATUS_LISTS.flatMap((list) =>
      (listAt(item, 'status', list) ?? []).map(parseStatus),
    ),
  };
}

const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

function parseVolume(item: unknown): PodVolume {
  const kind =
    Object.keys((item as object | null) ?? {}).find((key) => key !== 'name') ?? 'unknown';
  const source = fieldAt(item, kind);
  return {
    name: textAt(item, 'name') ?? '',
    kind,
    object: textAt(source, 'name') ?? textAt(source, 'secretName') ?? textAt(source, 'claimName'),
  };
}

/** With these reasons, the message is from the runtime or the kubelet, not from the program. */
const START_REASONS: ReadonlySet<string> = new Set([
  'CreateContainerError',
  'RunContainerError',
  'StartError',
  'ContainerCannotRun',
]);

function parseStatus(item: unknown): PodContainerStatus {
  const states = [
    fieldAt(item, 'state', 'waiting'),
    fieldAt(item, 'state', 'terminated'),
    fieldAt(item, 'lastState', 'terminated'),
  ];
  return {
    name: textAt(item, 'name') ?? '',
    restartCount: numberAt(item, 'restartCount') ?? 0,
    messages: states
      .filter((state) => START_REASONS.has(textAt(state, 'reason') ?? ''))
      .flatMap((state) => textAt(state, 'message') ?? []),
  };
}
