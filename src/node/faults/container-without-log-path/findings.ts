import { shortId } from '../../../lib/std/short-id.ts';
import type { UnloggedContainer } from '../../evidence/containers/unlogged-containers.ts';
import { isRelative, removesContainerLog } from '../../evidence/deletions/deletion-trace.ts';
import type { WatchedDeletion } from '../../evidence/deletions/watched-deletions.ts';
import type { Finding, FindingState, Proof, Step } from '../../model/finding.ts';
import { originText } from '../../model/origin.ts';
import type { Removal } from './log-lines.ts';
import {
  containerProof,
  nameOf,
  preventionFor,
  type Reason,
  refusalOf,
  type Seen,
  subjectOf,
  sweepMessage,
  sweepProof,
  versionProof,
} from './messages.ts';

/** Names what is to be removed and restored, as it was diagnosed. */
export interface ContainerWithoutLogPath {
  /** Empty when the runtime was not asked: then nothing can be removed. */
  readonly socket: string;
  readonly containers: readonly PinnedContainer[];
  /** A container that only the log mentions. */
  readonly logged?: string;
  /** Whether the link /bin is to be restored. */
  readonly bin: boolean;
}

export interface PinnedContainer {
  readonly container: string;
  readonly sandbox: string;
  readonly createdAt: string;
  readonly name: string;
}

const STATES: Readonly<Record<Exclude<Reason, 'DeletedBin'>, FindingState>> = {
  DeletesWorkingFolder: 'active',
  WillDeleteWorkingFolder: 'latent',
  RunsWithoutLogPath: 'latent',
  OldKubelet: 'benign',
  NothingToDelete: 'benign',
  LogPathIsFolder: 'benign',
};

export function containerFinding(created: {
  readonly reason: keyof typeof STATES;
  readonly container: UnloggedContainer;
  readonly removal: Removal | undefined;
  readonly seen: Seen;
}): Finding<ContainerWithoutLogPath> {
  const { reason, container, removal, seen } = created;
  const { sweep, producer, id, sandboxId, createdAt, name } = container;
  const isOurs = STATES[reason] !== 'benign';
  const refusal = refusalOf(container);
  return {
    state: STATES[reason],
    reason,
    summary: summaryOf(reason, container, seen),
    subject: subjectOf(container),
    proof: [
      ...containerProof(container),
      ...versionProof(seen.version),
      ...(container.kind === 'folder' ? [] : sweepProof(sweep)),
      ...(removal ? [removalProof(removal)] : []),
    ],
    blastRadius: isOurs
      ? sweepMessage(sweep)
      : 'nothing: no entry of the working directory of the kubelet is in danger',
    excluded: isOurs ? EXCLUDED : [],
    alternatives: !isOurs ? [] : refusal === undefined ? [byCrictl(id, seen)] : [LEAVE_IT],
    ...(isOurs && refusal !== undefined ? { refusal } : {}),
    ...(isOurs ? { prevention: preventionFor([producer]) } : {}),
    pins: {
      socket: seen.unlogged.known ? seen.unlogged.value.socket : '',
      containers: [{ container: id, sandbox: sandboxId, createdAt, name }],
      bin: false,
    },
  };
}

/** Where we do not repair, the report shows no command with the same effect. */
const LEAVE_IT: Step = {
  text: 'until then neither stop nor remove it, nor delete its pod, while the kubelet runs: to collect it deletes files of the node',
};

/** crictl stops it first, so nobody may be there to collect it meanwhile. */
function byCrictl(id: string, { kubelet }: Seen): Step {
  const unit = kubelet.known ? kubelet.value.program : 'kubelet';
  const remove = `crictl rm --force ${shortId(id)}`;
  return { command: `systemctl stop ${unit} && ${remove} && systemctl start ${unit}` };
}

const EXCLUDED = [
  'a log that was rotated or deleted: its path would still be reported, and be absolute',
  'a container of another containerd namespace: the kubelet does not see those, nor do we',
];

function summaryOf(reason: Reason, container: UnloggedContainer, { kubelet }: Seen): string {
  const { sweep, logPath, state } = container;
  const isAsleep = kubelet.known && kubelet.value.presence !== 'running';
  const which = `${nameOf(container)} ${originOf(container)}`;
  const folder = sweep.known ? ` (${sweep.value.folder})` : '';
  const runs = state === 'running' ? 'runs' : 'the runtime does not know whether it runs';
  switch (reason) {
    case 'DeletesWorkingFolder':
      return `${which}, and so the kubelet ${deletes(sweep)} of its own working directory${folder} once a minute${stopText(sweep)}.`;
    case 'RunsWithoutLogPath':
      return `${which} and ${runs}. Once it has ended (the kubelet kills what belongs to no pod of its own), the kubelet ${deletes(sweep)} of its own working directory${folder}${stopText(sweep)}.`;
    case 'OldKubelet':
      return `${which}; this kubelet is too old to delete anything for it.`;
    case 'NothingToDelete':
      return `${which}; the kubelet works in a directory${folder} where nothing matches, and collects it like any other.`;
    case 'LogPathIsFolder':
      return `${nameOf(container)} has the directory ${logPath} as its log path; the kubelet cannot collect it as long as that holds logs.`;
    default:
      return `${which}, so the kubelet ${stopText(sweep) ? 'will try to' : 'will'} delete entries of its own working directory${folder} when it collects it: ${isAsleep ? 'once it runs again' : 'within a minute'}${stopText(sweep)}.`;
  }
}

function deletes(sweep: UnloggedContainer['sweep']): string {
  return stopText(sweep) ? 'tries to delete entries' : 'deletes entries';
}

/** Set when the first name stops it: then nothing goes as long as that name is there. */
function stopText(sweep: UnloggedContainer['sweep']): string {
  if (!sweep.known || sweep.value.deletes.length > 0 || !sweep.value.stop) return '';
  return `; for now it stops at ${JSON.stringify(sweep.value.stop.name)} and deletes nothing`;
}

function originOf({ isKubelets, logPath }: UnloggedContainer): string {
  if (isKubelets) return 'has lost the log path that the kubelet set';
  return `was created ${logPath === '' ? 'without a log path' : 'with a relative log path'}`;
}

export function removalProof({ line, name }: Removal): Proof {
  const claim = `the kubelet itself says that it tried to remove "${name}", a name without a path`;
  return { claim, text: line.text, origin: line.origin };
}

/** Of a container that only the log mentions. */
export function loggedFinding(removal: Removal, seen: Seen): Finding<ContainerWithoutLogPath> {
  const { containerId, name } = removal;
  const folder =
    seen.kubelet.known && seen.kubelet.value.process
      ? { path: seen.kubelet.value.process.workingFolder }
      : {};
  return {
    state: 'active',
    reason: 'DeletesWorkingFolder' satisfies Reason,
    summary:
      `The kubelet deletes entries of its own working directory whenever it collects container ` +
      `${shortId(containerId)}, which was created without a log path; it got as far as "${name}".`,
    subject: { container: shortId(containerId), ...folder },
    proof: [removalProof(removal), ...versionProof(seen.version)],
    blastRadius: `all files, links and empty directories of that directory that sort before "${name}"`,
    excluded: [
      'a log that cannot be removed: the kubelet would name it by an absolute path',
      'a runtime that fails to remove the container: the kubelet would say so in other words',
    ],
    alternatives: [byCrictl(containerId, seen)],
    prevention: preventionFor(['unknown']),
    pins: { socket: '', containers: [], logged: containerId, bin: false },
  };
}

/** Of a container that nobody named: a tool watched the kubelet delete for it. */
export function watchedFindings(seen: Seen): readonly Finding<ContainerWithoutLogPath>[] {
  const proven = seen.watched.filter(
    ({ name, stack }) => isRelative(name) && removesContainerLog(stack),
  );
  const [first] = proven;
  if (!first) return [];
  const names = [...new Set(proven.map(({ name }) => `"${name}"`))].join(', ');
  return [
    {
      state: 'active',
      reason: 'DeletesWorkingFolder' satisfies Reason,
      summary:
        `${whoOf(first)} deletes entries of its own working directory while it removes the log of a ` +
        `container that has no log path; it was seen to delete ${names}.`,
      subject: first.folder === undefined ? {} : { path: first.folder },
      proof: [
        {
          claim: "it removes a name without a path, in the function that cleans a container's logs",
          text: [first.text, ...first.stack].join('\n'),
          origin: first.origin,
        },
        ...versionProof(seen.version),
      ],
      blastRadius: 'all files, links and empty directories of that directory, up to one that stays',
      excluded: ['a log that is removed as it should be: it would have an absolute path'],
      alternatives: [],
      prevention: preventionFor(['unknown']),
      pins: { socket: '', containers: [], logged: `watched ${names}`, bin: false },
    },
  ];
}

function whoOf({ process, pid }: WatchedDeletion): string {
  const who = process ?? 'somebody';
  return pid === undefined ? who : `${who} (process ${pid})`;
}

// kubelet, edgecore, k3s-server: what the kernel calls a kubelet, whole or cut
const KUBELET = /^(?:kubelet|edgecore|k3s|rke2|hyperkube|k0s)/;

/** A kubelet that deletes a bare name, where nobody wrote down on whose behalf. */
export function watchedSuspicion({ watched }: Seen): string | undefined {
  const bare = watched.find(
    ({ name = '', stack, process }) =>
      isRelative(name) &&
      !name.includes('/') &&
      stack.length === 0 &&
      (process === undefined || KUBELET.test(process)),
  );
  if (!bare) return undefined;
  return (
    `suspected: ${whoOf(bare)} deleted "${bare.name}" of its working directory (${originText(bare.origin)}); ` +
    'that it was for a container without a log path only its stack or its log shows'
  );
}
