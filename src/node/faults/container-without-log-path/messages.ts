import { counted } from '../../../lib/std/counted.ts';
import { shortId } from '../../../lib/std/short-id.ts';
import type { Producer } from '../../evidence/containers/container-producer.ts';
import type {
  UnloggedContainer,
  UnloggedContainers,
} from '../../evidence/containers/unlogged-containers.ts';
import type { MergedUsr } from '../../evidence/deletions/merged-usr.ts';
import type { WatchedDeletion } from '../../evidence/deletions/watched-deletions.ts';
import type { Sweep } from '../../evidence/deletions/working-folder.ts';
import type { Kubelet } from '../../evidence/kubelet/kubelet.ts';
import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import { verificationNote } from '../../evidence/kubelet/verified-version.ts';
import type { KubeletLog } from '../../evidence/logs/log-entries.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Proof, Subject } from '../../model/finding.ts';
import { isSweeping } from './kubelet-behaviour.ts';

export const reasons = {
  DeletesWorkingFolder:
    'The kubelet is deleting entries of its own working directory, at every collection.',
  WillDeleteWorkingFolder:
    'The next collection of this container deletes entries of the working directory of the kubelet.',
  RunsWithoutLogPath:
    'The container runs, or may run; once the kubelet has killed it, garbage collection deletes entries of the ' +
    'working directory of the kubelet.',
  DeletedBin: 'The kubelet has deleted /bin while it collected such a container.',
  OldKubelet: 'This kubelet removes exactly the log path, so nothing at all.',
  NothingToDelete: 'Nothing in the working directory of the kubelet matches.',
  LogPathIsFolder: 'The log path is a directory of logs: the container is never collected.',
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;

const PRODUCERS: Readonly<Record<Producer, string | undefined>> = {
  'keadm-mqtt': 'keadm join made it: the MQTT broker of KubeEdge 1.10 to 1.14',
  'keadm-installation':
    'keadm made it to copy files out of its installation package, and did not take it away',
  crictl: "crictl made it: its pod has the UID of crictl's own example",
  critest: 'critest made it: its pod has a UID of that test suite',
  unknown: undefined,
};

/** `container "mqtt" (4f0c2a9e1b7d8)` */
export function nameOf({ name, id }: Pick<UnloggedContainer, 'name' | 'id'>): string {
  return `container "${name}" (${shortId(id)})`;
}

export function subjectOf(container: UnloggedContainer): Subject {
  const { podNamespace, podName, podUid, name, sweep } = container;
  return {
    ...(podNamespace ? { namespace: podNamespace } : {}),
    ...(podName ? { pod: podName } : {}),
    ...(podUid ? { podUid } : {}),
    container: name,
    ...(sweep.known ? { path: sweep.value.folder } : {}),
  };
}

/** A container of unknown state must not be taken for one that has ended. */
export function mayRun({ state }: Pick<UnloggedContainer, 'state'>): boolean {
  return state === 'running' || state === 'unknown';
}

/** Why we never touch a container; undefined when we may. */
export function refusalOf(container: UnloggedContainer): string | undefined {
  if (container.isKubelets) {
    return 'it carries the marks of the kubelet, so it is the runtime that loses log paths';
  }
  if (!mayRun(container) || container.producer !== 'unknown') return undefined;
  const runs = container.state === 'running' ? 'it runs' : 'it may run';
  return `${runs}, and who made it is not known: find out whose it is, and what it serves`;
}

const SERVES: Proof = {
  claim: 'somebody listens on port 1883 in its network: it may be a broker that devices use',
  origin: { file: '/proc/<pid>/net/tcp' },
};

export function containerProof(container: UnloggedContainer): readonly Proof[] {
  const { kind, logPath, state, exitCode, producer, image, origin } = container;
  const what = { empty: 'has no log path', relative: 'has a relative log path' };
  const how = exitCode === undefined ? state : `${state} with ${exitCode}`;
  const created = PRODUCERS[producer];
  return [
    {
      claim: `${nameOf(container)} ${kind === 'folder' ? 'has a directory as its log path' : what[kind]}; it is ${how}`,
      text: `"logPath": ${JSON.stringify(logPath)}`,
      origin,
    },
    ...(created
      ? [{ claim: `${created} (image ${image})`, origin: { criCall: 'ListContainers' } }]
      : []),
    ...(container.isServing ? [SERVES] : []),
  ];
}

export function versionProof(version: Maybe<KubeletVersion>): readonly Proof[] {
  if (!version.known) return [];
  const { text, via, origin } = version.value;
  const sweeps = isSweeping(version.value);
  if (sweeps === 'unknown') return [];
  const which = `kubelet ${text}${via ? ` (in ${via})` : ''}`;
  const claim = sweeps
    ? `${which} removes whatever matches the log path and a star (1.17.12, 1.18.9, 1.19 and newer do)`
    : `${which} removes exactly the log path (1.17.12, 1.18.9, 1.19 and newer do otherwise)`;
  return [{ claim: `${claim}${verificationNote(version.value)}`, origin }];
}

const NAMES_SHOWN_MAX = 100;

/** The exact blast radius: what goes, in which order, and what ends it. */
export function sweepProof(sweep: Maybe<Sweep>): readonly Proof[] {
  if (!sweep.known) return [];
  const { folder, deletes, origin } = sweep.value;
  const claim =
    deletes.length === 0
      ? `the kubelet works in ${folder}: the next garbage collection would delete nothing`
      : `the kubelet works in ${folder}: the next garbage collection deletes, in this order`;
  return [{ claim, text: sweepText(sweep.value), origin }];
}

function sweepText({ deletes, stop, isWhole }: Sweep): string {
  const more = deletes.length - NAMES_SHOWN_MAX;
  const names = deletes.slice(0, NAMES_SHOWN_MAX).map(quoted);
  const cut = more > 0 ? [`and ${more}${isWhole ? '' : ' or more'} others`] : [];
  const end = stop ? `stops at ${quoted(stop.name)} (${stop.why})` : 'and comes to the end';
  return [[...names, ...cut].join(', '), end].filter(Boolean).join('; ');
}

/** As it stands, unless somebody could take it for two names or for a sentence. */
function quoted(name: string): string {
  return PLAIN.test(name) ? name : JSON.stringify(name);
}

// bin.usr-is-merged, .autorelabel
const PLAIN = /^[\w.@+-]+$/;

export function sweepMessage(sweep: Maybe<Sweep>): string {
  if (!sweep.known) return 'what it deletes depends on the directory that the kubelet works in';
  const { folder, deletes, stop, isWhole } = sweep.value;
  if (deletes.length === 0 && stop) {
    return `nothing of ${folder} for now: it stops at ${quoted(stop.name)}; entries that sort before that will be deleted`;
  }
  const { length } = deletes;
  const what = isWhole ? counted(length, 'entry', 'entries') : `${length} or more entries`;
  const end = stop ? `up to ${quoted(stop.name)}` : 'all that is there';
  return `${what} of ${folder}, ${end}; a name with the "immutable" flag, which is not seen from here, would stop it earlier`;
}

export function binProof({ siblings }: MergedUsr): Proof {
  const claim = '/bin is gone, /usr/bin is there, and its sibling still leads into /usr';
  return { claim, text: siblings.join(', '), origin: { file: '/bin' } };
}

const EMPTY_FOLDER =
  'give the kubelet an empty directory to work in, for then nothing matches: a drop-in with ' +
  '[Service] WorkingDirectory=/var/lib/kubelet-cwd (an empty directory of its own), then restart it once';

const PREVENTION: Readonly<Record<Producer, readonly string[]>> = {
  'keadm-mqtt': [
    'join with keadm join --with-mqtt=false and run mosquitto on the host, or use a keadm in which ' +
      'it is repaired (1.11.3, 1.12.3, 1.13.1, 1.14.1, 1.15 and newer), or KubeEdge up to 1.9.5',
  ],
  'keadm-installation': [
    'after keadm was interrupted, look for what it left: crictl ps -a --name container',
  ],
  crictl: ['give crictl a log_directory in the pod and a log_path in the container'],
  critest: ['run critest only on machines without a kubelet'],
  unknown: [
    'when you create containers over CRI, set log_directory of the pod and log_path of the container',
  ],
};

export function preventionFor(producers: readonly Producer[]): readonly string[] {
  return [EMPTY_FOLDER, ...new Set(producers.flatMap((producer) => PREVENTION[producer]))];
}

/** All that the judgement stands on; it makes do with any part of it. */
export interface Seen {
  readonly kubelet: Maybe<Kubelet>;
  readonly version: Maybe<KubeletVersion>;
  readonly unlogged: Maybe<UnloggedContainers>;
  readonly usr: Maybe<MergedUsr>;
  readonly log: Maybe<KubeletLog>;
  readonly watched: readonly WatchedDeletion[];
}
