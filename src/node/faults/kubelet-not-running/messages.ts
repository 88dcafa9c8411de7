import { counted } from '../../../lib/std/counted.ts';
import type { KubeletService } from '../../evidence/services/kubelet-service.ts';
import type { ServiceUnit, UnitEvent } from '../../evidence/services/service-unit.ts';
import { livePodsText, unitProof } from '../../evidence/services/unit-messages.ts';
import type { Finding, Proof, Step } from '../../model/finding.ts';
import { endOf, type Reason } from './end.ts';

/** Names the kubelet by its root directory: there is one on a node. */
export interface KubeletNotRunning {
  readonly root: string;
}

type NotRunning = Extract<KubeletService, { readonly state: 'not-running' }>;
type Running = Extract<KubeletService, { readonly state: 'running' }>;
type Young = NonNullable<Running['young']>;

const BLAST_RADIUS =
  'the node becomes NotReady: pods here are not started, restarted, probed or deleted, and after ' +
  'about 5 minutes they are evicted; running containers continue';

export function notRunningFinding(service: NotRunning): Finding<KubeletNotRunning> {
  const { root = '', unit } = service;
  const end = endOf(unit);
  return {
    state: 'active',
    reason: end.reason satisfies Reason,
    summary: `The kubelet is not running on this node: ${end.summary}. ${livePodsText(service)}`,
    subject: {},
    proof: [...unitProof(unit), absence(service)],
    blastRadius: BLAST_RADIUS,
    excluded: [
      'a kubelet in a container or with another name: no process has one of its names, and nothing listens on port 10250',
    ],
    alternatives: howToStart(unit, end.reason, root),
    pins: { root },
  };
}

function absence({ root, podFolders }: NotRunning): Proof {
  if (root === undefined) {
    const claim = 'no kubelet process is running, and its directory is at none of the usual places';
    return { claim, origin: { file: '/proc' } };
  }
  const count = counted(podFolders, 'pod has', 'pods have');
  return {
    claim: `no kubelet process is running; ${count} a directory in ${root}/pods`,
    origin: { file: '/proc' },
  };
}

/** What a person types, in this order. The runtime comes first: no kubelet starts without it. */
function howToStart(
  { state, hasNoUnit }: ServiceUnit,
  reason: Reason,
  root: string,
): readonly Step[] {
  const unit = state?.unit ?? 'kubelet.service';
  const isCrashLoop = reason === 'KubeletCrashLoop';
  const disks = { command: `df --human-readable / ${root}`.trimEnd() };
  const start = { command: `systemctl ${isCrashLoop ? 'restart' : 'start'} ${unit}` };
  if (hasNoUnit) return [RISK_OF_A_START, disks, CRICTL, NO_UNIT];
  return [
    ...(reason === 'KubeletStopped'
      ? [{ text: 'risk: somebody may have stopped it on purpose; ask before you start it' }]
      : []),
    ...(isCrashLoop ? [] : [RISK_OF_A_START]),
    { command: `journalctl --unit ${unit} --lines 100 --no-pager` },
    ...(reason === 'KubeletOutOfMemory'
      ? [{ command: 'free --human; journalctl --dmesg --grep "Killed process" --no-pager' }]
      : []),
    disks,
    CRICTL,
    ...(state?.enabled === 'masked' ? [{ command: `systemctl unmask ${unit}` }] : []),
    ...(state?.active === 'failed' ? [{ command: `systemctl reset-failed ${unit}` }] : []),
    isCrashLoop ? { text: FIX_FIRST, ...start } : start,
    { command: `systemctl --no-pager status ${unit}` },
  ];
}

const FIX_FIRST = 'fix what its last log lines report; then systemd starts it again by itself, or:';

const CRICTL: Step = { command: 'crictl --timeout 5s version' };

const NO_UNIT: Step = {
  text: 'systemd has no unit of a kubelet here: start it with what started it before, such as a script or a container',
};

const RISK_OF_A_START: Step = {
  text: 'risk: a kubelet that starts may delete files of the node: if container-without-log-path is found or unknown here, settle that first',
};

/** It runs at this moment, as it did for a moment after each of its starts. */
export function restartingFinding(
  { pid, root }: Running,
  { ageS, unit }: Young,
  exits: readonly UnitEvent[],
): Finding<KubeletNotRunning> {
  const last = exits.at(-1);
  const code = last ? `${last.fields.code} ${last.fields.status}/${last.fields.name}` : '';
  return {
    state: 'active',
    reason: 'KubeletCrashLoop' satisfies Reason,
    summary:
      `The kubelet ended with an error ${exits.length} times within 10 minutes and was started again ` +
      `each time; this one (process ${pid}) has run for ${Math.round(ageS)} s.`,
    subject: {},
    proof: [
      ...(last ? [{ claim: `its last end: ${code}`, text: last.text, origin: last.origin }] : []),
      ...unit.events
        .filter(({ what }) => what === 'unit-restarts' || what === 'cannot-go-on')
        .slice(-2)
        .map(({ what, text, origin }) => ({ claim: EVENT_CLAIMS[what] ?? what, text, origin })),
    ],
    blastRadius: BLAST_RADIUS,
    excluded: ['a single restart, as after an upgrade: it ended by itself, and several times'],
    alternatives: howToStart(unit, 'KubeletCrashLoop', root),
    pins: { root: '' },
  };
}

const EVENT_CLAIMS: Readonly<Record<string, string>> = {
  'unit-restarts': 'systemd counts its restarts',
  'cannot-go-on': 'it logged why it cannot continue',
};

export function pausedFinding(pid: number): Finding<KubeletNotRunning> {
  return {
    state: 'active',
    reason: 'KubeletPaused' satisfies Reason,
    summary: `The kubelet (process ${pid}) is stopped by a signal: it does nothing until it is continued.`,
    subject: {},
    proof: [
      { claim: 'the state of its process is T (stopped)', origin: { file: `/proc/${pid}/stat` } },
    ],
    blastRadius: BLAST_RADIUS,
    excluded: ['a kubelet that hangs or waits: such a process is not in state T'],
    alternatives: [
      { text: 'risk: somebody may have stopped it on purpose; ask before you continue it' },
      { command: `kill -CONT ${pid}` },
    ],
    pins: { root: '' },
  };
}

export function notANodeNote({ root = '' }: NotRunning): Finding<KubeletNotRunning> {
  return {
    state: 'benign',
    reason: 'NotANode' satisfies Reason,
    summary:
      `No kubelet runs here, and nothing shows that this machine is a node: ${root} holds no pods, ` +
      'and there is no unit of a kubelet that is enabled or has run.',
    subject: {},
    proof: [{ claim: 'it holds no pods', origin: { file: `${root}/pods` } }],
    blastRadius: 'none',
    excluded: [],
    alternatives: [],
    pins: { root },
  };
}
