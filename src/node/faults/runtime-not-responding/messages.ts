import type { RuntimeService } from '../../evidence/services/runtime-service.ts';
import { livePodsText, unitProof } from '../../evidence/services/unit-messages.ts';
import type { Finding, Proof, Step } from '../../model/finding.ts';

/** Names the runtime by its socket. */
export interface RuntimeNotResponding {
  readonly socket: string;
}

export const reasons = {
  RuntimeNotListening: 'The socket is there, but no process accepts connections on it.',
  RuntimeSocketGone: 'The kubelet is configured to use a socket that does not exist.',
  RuntimeHangs: 'The runtime accepts connections and does not answer within the time limit.',
  RuntimePaused: 'The process of the runtime is stopped by a signal and waits to be continued.',
} as const satisfies Record<string, string>;

type Reason = keyof typeof reasons;
type Silent = Extract<RuntimeService, { readonly state: 'silent' }>;

export function silentFinding(service: Silent): Finding<RuntimeNotResponding> {
  const { socket, namedBy, calls, unit } = service;
  const reason = reasonOf(service);
  return {
    state: 'active',
    reason,
    summary: `The container runtime does not respond: ${summaryOf(service, reason)}. ${livePodsText(service)}`,
    subject: { path: socket },
    proof: [
      {
        claim: `${namedBy} names this socket, and it does not answer`,
        text: calls.join('; '),
        origin: { file: socket },
      },
      ...processProof(service),
      ...unitProof(unit),
    ],
    blastRadius:
      'no container is started, stopped, probed or removed, and the node becomes NotReady; ' +
      'running containers continue',
    excluded: [
      'a runtime that is only slow or restarts: two calls failed in the same way',
      'a socket that was only guessed: the kubelet itself names this one',
    ],
    alternatives: howToMend(service, reason),
    pins: { socket },
  };
}

function reasonOf({ how, processes }: Silent): Reason {
  if (how === 'missing') return 'RuntimeSocketGone';
  if (how === 'refused') return 'RuntimeNotListening';
  return processes.some(({ state }) => state === 'T') ? 'RuntimePaused' : 'RuntimeHangs';
}

function summaryOf({ how, socket, program, processes }: Silent, reason: Reason): string {
  const [one] = processes;
  if (reason === 'RuntimePaused') {
    const paused = processes.find(({ state }) => state === 'T') ?? one;
    return `${program} (process ${paused?.pid}) is stopped by a signal and does nothing until it is continued`;
  }
  const runs = one ? `${one.name} runs as process ${one.pid}` : `no ${program} process is running`;
  if (how === 'timeout') return `${runs}, but two calls to ${socket} got no answer in time`;
  return how === 'refused'
    ? `nothing listens on ${socket}, and ${runs}`
    : `the socket ${socket} does not exist, and ${runs}`;
}

/** One letter of the kernel, in words. */
const STATES: Readonly<Record<string, string>> = {
  T: 'stopped by a signal',
  t: 'stopped by a debugger',
  D: 'waits in the kernel, mostly for a disk',
  S: 'sleeps',
  R: 'runs',
};

function processProof({ processes, program }: Silent): readonly Proof[] {
  if (processes.length === 0) {
    return [{ claim: `no process is called ${program}`, origin: { file: '/proc' } }];
  }
  return processes.map(({ pid, name, state }) => ({
    claim: `${name} is process ${pid} in state ${state} (${STATES[state] ?? 'unknown'})`,
    origin: { file: `/proc/${pid}/stat` },
  }));
}

/** What a person types, in this order; the risk stands first. */
function howToMend(service: Silent, reason: Reason): readonly Step[] {
  const { program, processes, socket, unit, unitName: name, folder } = service;
  const paused = processes.find(({ state }) => state === 'T');
  const ask = { command: `crictl --runtime-endpoint unix://${socket} --timeout 5s version` };
  if (reason === 'RuntimePaused') {
    return [
      { text: 'risk: somebody may have stopped it on purpose; ask before you continue it' },
      { command: `kill -CONT ${paused?.pid}` },
      ask,
    ];
  }
  const hangs =
    reason === 'RuntimeHangs' ? processes.find((each) => each.name === program) : undefined;
  const risk = RISKS[program] ?? RISKS.containerd ?? '';
  const snapshot = [
    { command: `df --human-readable / /run ${folder}` },
    // It writes its stacks into its log and goes on: the only trace of why it hung.
    ...(hangs && program === 'containerd' ? [{ command: `kill -USR1 ${hangs.pid}` }] : []),
  ];
  if (unit.hasNoUnit) {
    const text = `systemd has no unit ${name} here: start ${program} again with what started it before`;
    return [{ text: NO_UNIT_RISK }, ...snapshot, { text }, ask];
  }
  return [
    { text: risk },
    { command: `journalctl --unit ${name} --lines 100 --no-pager` },
    ...snapshot,
    ...(program === 'containerd'
      ? [{ command: `systemctl show --property KillMode ${name}` }]
      : []),
    ...(unit.state?.active === 'failed' ? [{ command: `systemctl reset-failed ${name}` }] : []),
    { command: `systemctl restart ${name}` },
    ask,
  ];
}

const NO_UNIT_RISK = 'risk: a restart of the runtime may end every container of the node';

const RISKS: Readonly<Record<string, string>> = {
  containerd:
    'risk: a restart leaves containers running only where KillMode is process (see below); else every pod of the node ends',
  crio: 'risk: a restart leaves containers running; what is being started or pulled fails and is tried again',
  'cri-dockerd':
    'risk: a restart of docker ends every container unless live-restore is on: grep live-restore /etc/docker/daemon.json',
  dockerd:
    'risk: a restart of docker ends every container unless live-restore is on: grep live-restore /etc/docker/daemon.json',
  isulad:
    'risk: a restart ends every container unless live-restore is on in /etc/isulad/daemon.json',
};
