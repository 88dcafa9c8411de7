import type { KubeletVersion } from '../settings.ts';
import { type Pod, podWord } from './pod.ts';

/** One line of a kubelet's log without its time: source position and message. */
export interface LogLine {
  readonly level: 'I' | 'W' | 'E';
  /** "kubelet_volumes.go:154" */
  readonly place: string;
  readonly text: string;
}

// E1115 15:12:15.061850     132 kubelet_volumes.go:154] orphaned pod "612f" found, but volume ...
export function klogLine({ level, place, text }: LogLine, now: Date, pid: number): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  const stamp = `${level}${date.slice(5).replace('-', '')} ${time.slice(0, -1)}000`;
  return `${stamp} ${String(pid).padStart(7)} ${place}] ${text}`;
}

/** "msg" key="value": how kubelets since 1.21 write most of their lines. */
function structured(message: string, fields: Readonly<Record<string, string | number>>): string {
  const args = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'number' ? value : JSON.stringify(value)}`,
  );
  return [JSON.stringify(message), ...args].join(' ');
}

/** The log messages of one version of the kubelet. */
export interface Wording {
  loopStarts(): LogLine;
  loopSkips(why: string): LogLine;
  podsChange(how: 'ADD' | 'UPDATE' | 'DELETE', pods: readonly Pod[]): LogLine;
  startFails(containerId: string, error: string): LogLine;
  syncFails(pod: Pod, error: string): LogLine;
  removalFails(containerId: string, error: string): LogLine;
  collectionFails(error: string): LogLine;
  /** Shows the first error and the number of errors. */
  orphansLeft(errors: readonly string[]): LogLine;
  /** The kubelet could not check whether a volume of an orphan is mounted. */
  orphanNotSeen(podUid: string, error: string): LogLine;
  unknownContainerKilled(podUid: string, name: string): LogLine;
}

const V1_18: Wording = {
  loopStarts: () => info('kubelet.go:1822', 'Starting kubelet main sync loop.'),
  loopSkips: (why) => failure('kubelet.go:1846', `skipping pod synchronization - ${why}`),
  podsChange: (how, pods) =>
    info(
      { ADD: 'kubelet.go:1908', UPDATE: 'kubelet.go:1915', DELETE: 'kubelet.go:1924' }[how],
      `SyncLoop (${how}, "api"): ${JSON.stringify(pods.map(podWord).join(', '))}`,
    ),
  startFails: (id, error) =>
    failure(
      'remote_runtime.go:222',
      `StartContainer "${id}" from runtime service failed: ${error}`,
    ),
  syncFails: (pod, error) =>
    failure(
      'pod_workers.go:191',
      `Error syncing pod ${pod.uid} ("${podWord(pod)}"), skipping: ${error}`,
    ),
  removalFails: (id, error) =>
    failure('kuberuntime_gc.go:143', `Failed to remove container "${id}": ${error}`),
  collectionFails: (error) =>
    failure('kubelet.go:1278', `Container garbage collection failed: ${error}`),
  orphansLeft: (errors) =>
    failure(
      'kubelet_volumes.go:154',
      `${errors[0]} : There were a total of ${errors.length} errors similar to this. ` +
        'Turn up verbosity to see them.',
    ),
  orphanNotSeen: (podUid, error) =>
    failure(
      'kubelet_volumes.go:65',
      `pod "${podUid}" found, but error ${error} occurred during checking mounted volumes from disk`,
    ),
  unknownContainerKilled: (_, name) =>
    info('kubelet_pods.go:1122', `Killing unwanted pod "${name}"`),
};

const V1_36: Wording = {
  loopStarts: () => info('kubelet.go:2622', '"Starting kubelet main sync loop"'),
  loopSkips: (why) =>
    failure('kubelet.go:2646', structured('Skipping pod synchronization', { err: why })),
  podsChange: (how, pods) => {
    const place = { ADD: 'kubelet.go:2709', UPDATE: 'kubelet.go:2716', DELETE: 'kubelet.go:2725' };
    const names = pods.map(({ name, namespace }) => `${namespace}/${name}`);
    return info(place[how], `"SyncLoop ${how}" source="api" pods=${JSON.stringify(names)}`);
  },
  startFails: (id, err) =>
    failure(
      'remote_runtime.go:435',
      structured('StartContainer from runtime service failed', { err, containerID: id }),
    ),
  syncFails: ({ namespace, name, uid }, err) =>
    failure(
      'pod_workers.go:1338',
      structured('Error syncing pod, skipping', { err, pod: `${namespace}/${name}`, podUID: uid }),
    ),
  removalFails: (id, err) =>
    failure(
      'kuberuntime_gc.go:151',
      structured('Failed to remove container', { err, containerID: id }),
    ),
  collectionFails: (err) =>
    failure('kubelet.go:1695', structured('Container garbage collection failed', { err })),
  orphansLeft: (errors) =>
    failure(
      'kubelet_volumes.go:261',
      structured('There were many similar errors. Turn up verbosity to see them.', {
        err: errors[0] ?? '',
        numErrs: errors.length,
      }),
    ),
  orphanNotSeen: (podUID, err) =>
    failure(
      'kubelet_volumes.go:87',
      structured('Pod found, but error occurred during checking mounted volumes from disk', {
        err,
        podUID,
      }),
    ),
  unknownContainerKilled: (podUID) =>
    info(
      'kubelet_pods.go:1414',
      structured('Clean up containers for orphaned pod we had not seen before', { podUID }),
    ),
};

export const WORDINGS: Readonly<Record<KubeletVersion, Wording>> = {
  'v1.18.8': V1_18,
  'v1.18.20': V1_18,
  'v1.36.3': V1_36,
};

/** Messages of kubelets that clean up after orphans; of our versions, only v1.36.3 does. */
const CLEANED = {
  'volume from pod': 'kubelet_volumes.go:133',
  'volume subpath from pod': 'kubelet_volumes.go:150',
  'pod volumes dir': 'kubelet_volumes.go:161',
} as const;

export function cleaned(what: keyof typeof CLEANED, podUID: string, path: string): LogLine {
  return info(CLEANED[what], structured(`Cleaned up orphaned ${what}`, { podUID, path }));
}

function info(place: string, text: string): LogLine {
  return { level: 'I', place, text };
}

function failure(place: string, text: string): LogLine {
  return { level: 'E', place, text };
}
