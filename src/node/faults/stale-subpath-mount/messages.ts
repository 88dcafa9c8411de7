import type { KubeletVersion } from '../../evidence/kubelet/kubelet-version.ts';
import { verificationNote } from '../../evidence/kubelet/verified-version.ts';
import type { MountTable } from '../../evidence/mounts/mount-table.ts';
import type { SubpathSource } from '../../evidence/mounts/subpath-source.ts';
import type { Maybe } from '../../model/evidence.ts';
import type { Finding, Proof, Subject } from '../../model/finding.ts';
import type { Candidate } from './candidate.ts';
import { isRepairedByKubelet } from './kubelet-behaviour.ts';

/** Names the mount as it was diagnosed: all that an unmount is pinned to. */
export interface StaleSubpathMount {
  readonly id: number;
  readonly parent: number;
  readonly device: string;
  readonly root: string;
  readonly target: string;
}

interface Seen {
  readonly version: Maybe<KubeletVersion>;
  readonly mounts: MountTable;
}

export const reasons = {
  ContainerCannotStart: 'The container does not run, and cannot start because of this mount.',
  ContainerWillNotRestart: 'The next start of the container will fail because of this mount.',
  RepairedByKubelet: 'This kubelet mounts the volume again before the next start.',
} as const satisfies Record<string, string>;

type Reason = keyof typeof reasons;

export function activeFinding(candidate: Candidate, source: SubpathSource, seen: Seen) {
  return {
    ...common(candidate, source, seen),
    state: 'active',
    reason: 'ContainerCannotStart' satisfies Reason,
    summary:
      `${podOf(candidate)} cannot start container "${candidate.target.container}": its subPath ` +
      `volume "${candidate.target.volume}" is mounted from a file that no longer exists.`,
    excluded: [
      ...(candidate.refusal
        ? [
            'a source path that does not exist, or a place that the image lacks: the runtime says otherwise',
          ]
        : []),
      'a volume with data of its own: this one is rebuilt by the kubelet',
      ...podExclusions(candidate),
    ],
  } satisfies Finding<StaleSubpathMount>;
}

export function latentFinding(candidate: Candidate, source: SubpathSource, seen: Seen) {
  const { container, volume } = candidate.target;
  const isRunning = candidate.state === 'running';
  return {
    ...common(candidate, source, seen),
    state: 'latent',
    reason: 'ContainerWillNotRestart' satisfies Reason,
    summary: isRunning
      ? `${podOf(candidate)} runs, but container "${container}" will not survive a restart: its ` +
        `subPath volume "${volume}" is mounted from a file that no longer exists.`
      : `${podOf(candidate)} will not get container "${container}" started: its subPath volume ` +
        `"${volume}" is mounted from a file that no longer exists.`,
    excluded: [
      'a volume with data of its own: this one is rebuilt by the kubelet',
      ...podExclusions(candidate),
    ],
  } satisfies Finding<StaleSubpathMount>;
}

export function benignFinding(candidate: Candidate, source: SubpathSource, seen: Seen) {
  return {
    ...common(candidate, source, seen),
    state: 'benign',
    reason: 'RepairedByKubelet' satisfies Reason,
    summary:
      `${podOf(candidate)} container "${candidate.target.container}" still shows an old version of ` +
      `its subPath volume "${candidate.target.volume}"; this kubelet mounts the new one at the next start.`,
    excluded: [],
    alternatives: [],
  } satisfies Finding<StaleSubpathMount>;
}

function common(candidate: Candidate, source: SubpathSource, seen: Seen) {
  const { mount, target, podName, podNamespace } = candidate;
  const { id, parent, device, root } = mount;
  return {
    subject: subjectOf(candidate),
    proof: proofOf(candidate, seen),
    blastRadius:
      `1 mount, of container "${target.container}" of 1 pod; ` +
      `its content is rebuilt from ${originOf(candidate, source)}`,
    alternatives: podNamespace
      ? [{ command: `kubectl -n ${podNamespace} delete pod ${podName}` }]
      : [],
    pins: { id, parent, device, root, target: mount.target },
  };
}

export function subjectOf({ mount, target, podName, podNamespace }: Candidate): Subject {
  return {
    ...(podNamespace ? { namespace: podNamespace } : {}),
    pod: podName,
    podUid: target.podUid,
    container: target.container,
    volume: target.volume,
    mount: mount.target,
    path: `${mount.root}//deleted`,
  };
}

function proofOf(
  { mount, state, refusal, complaint, nextStart }: Candidate,
  seen: Seen,
): readonly Proof[] {
  const mounted: Proof = {
    claim: `mount ${mount.id} of the kubelet shows a file that was deleted`,
    text: seen.mounts.lineText(mount),
    origin: { ...seen.mounts.origin, line: mount.line },
  };
  const spoken = refusal ?? complaint ?? nextStart;
  const running =
    state === 'running'
      ? [{ claim: 'the container runs', origin: { criCall: 'ListContainers' } }]
      : [];
  return [mounted, ...(spoken ? [spoken] : running), ...behaviourOf(seen.version)];
}

function behaviourOf(version: Maybe<KubeletVersion>): readonly Proof[] {
  if (!version.known) return [];
  const { text, origin } = version.value;
  const repaired = isRepairedByKubelet(version.value);
  if (repaired === 'unknown') return [];
  const claim = repaired
    ? `kubelet ${text} mounts it again at the next start (1.19 and newer do)`
    : `kubelet ${text} does not repair this by itself (1.19 and newer do)`;
  return [{ claim: `${claim}${verificationNote(version.value)}`, origin }];
}

function podExclusions({ pod }: Candidate): readonly string[] {
  return pod ? ['a pod that is being deleted or has finished: it is neither'] : [];
}

function podOf({ podNamespace, podName }: Candidate): string {
  return podNamespace ? `${podNamespace}/${podName}` : `pod ${podName}`;
}

const OBJECTS: Readonly<Record<string, string>> = {
  configmap: 'ConfigMap',
  secret: 'Secret',
  projected: 'the projected sources',
  'downward-api': "the pod's own fields",
};

function originOf({ pod, target, podNamespace }: Candidate, { kind }: SubpathSource): string {
  const object = pod?.volumes.find(({ name }) => name === target.volume)?.object;
  const word = OBJECTS[kind] ?? kind;
  if (object) return `${word} ${podNamespace}/${object}`;
  return kind === 'configmap' || kind === 'secret' ? `its ${word}` : word;
}
