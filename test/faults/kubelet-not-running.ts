import { KUBELET_UNITS } from '../../src/node/evidence/logs/kubelet-log-files.ts';
import type { OptionalReads } from '../describe-fault.ts';
import { makeFolder } from '../synthetic-kubelet.ts';
import { type NodeMaker, type SyntheticNodes, syntheticNodes } from '../synthetic-node.ts';
import {
  addUnit,
  INIT,
  NOW,
  PAUSE,
  POD,
  process,
  type StoppedWorker,
  stoppedWorker,
} from '../synthetic-stopped-worker.ts';
import { syntheticWorker } from '../synthetic-worker.ts';

const UNIT = { Id: 'kubelet.service', LoadState: 'loaded', UnitFileState: 'enabled' };
const SINCE = { StateChangeTimestamp: 'Sat 2026-04-04 16:38:12 UTC' };

const line = (time: string, who: string, text: string) =>
  `2026-04-04T${time}+0000 worker-7 ${who}: ${text}`;
const systemd = (time: string, text: string) => line(time, 'systemd[1]', text);
const kubelet = (time: string, text: string) => line(time, 'kubelet[812]', text);

const STARTED = systemd('16:30:00', 'Started kubelet: The Kubernetes Node Agent.');
const WORKS = kubelet(
  '16:38:10',
  'I0404 16:38:10.114341     812 kubelet.go:2012] "SyncLoop ADD" source="api" pods=["default/web-0"]',
);
const REFUSED = kubelet(
  '16:38:11',
  'E0404 16:38:11.600016     812 run.go:74] "command failed" err="failed to run Kubelet: unable to determine runtime API version: rpc error: code = Unavailable desc = connection error: desc = \\"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\\""',
);
const EXITED = 'kubelet.service: Main process exited, code=exited, status=1/FAILURE';
const FAILED = "kubelet.service: Failed with result 'exit-code'.";
const restarts = (count: number) =>
  `kubelet.service: Scheduled restart job, restart counter is at ${count}.`;

const STOPPED: StoppedWorker = {
  unit: {
    ...UNIT,
    ...SINCE,
    ...{ ActiveState: 'inactive', SubState: 'dead', Result: 'success', ExecMainStatus: '0' },
    NRestarts: '0',
  },
  journal: [
    STARTED,
    WORKS,
    systemd('16:38:12', 'Stopping kubelet: The Kubernetes Node Agent...'),
    systemd('16:38:12', 'kubelet.service: Deactivated successfully.'),
    systemd('16:38:12', 'Stopped kubelet: The Kubernetes Node Agent.'),
  ],
};

const CRASHED: StoppedWorker = {
  unit: {
    ...UNIT,
    ...SINCE,
    ...{ ActiveState: 'failed', SubState: 'failed', Result: 'exit-code', ExecMainStatus: '1' },
    NRestarts: '0',
  },
  journal: [STARTED, WORKS, systemd('16:38:12', EXITED), systemd('16:38:12', FAILED)],
};

const LOOPING: StoppedWorker = {
  unit: {
    ...UNIT,
    ...SINCE,
    ...{ ActiveState: 'activating', SubState: 'auto-restart', Result: 'exit-code' },
    ...{ ExecMainStatus: '1', NRestarts: '5' },
  },
  journal: [
    ...[3, 4, 5].flatMap((count) => [
      systemd(`16:37:${count}0`, restarts(count)),
      systemd(`16:37:${count}0`, 'Started kubelet: The Kubernetes Node Agent.'),
      REFUSED.replaceAll('16:38:11', `16:37:${count}1`),
      systemd(`16:37:${count}1`, EXITED),
      systemd(`16:37:${count}1`, FAILED),
    ]),
  ],
};

const OUT_OF_MEMORY: StoppedWorker = {
  unit: {
    ...UNIT,
    ...SINCE,
    ...{ ActiveState: 'failed', SubState: 'failed', Result: 'oom-kill', ExecMainStatus: '9' },
    NRestarts: '0',
  },
  journal: [
    STARTED,
    WORKS,
    systemd(
      '16:38:12',
      'kubelet.service: A process of this unit has been killed by the OOM killer.',
    ),
    systemd('16:38:12', 'kubelet.service: Main process exited, code=killed, status=9/KILL'),
    systemd('16:38:12', "kubelet.service: Failed with result 'oom-kill'."),
  ],
  kernel: [
    line(
      '16:38:12',
      'kernel',
      'Out of memory: Killed process 812 (kubelet) total-vm:1936203776kB, anon-rss:812000kB, file-rss:0kB, shmem-rss:0kB',
    ),
    line('16:38:13', 'kernel', 'Out of memory: Killed process 990 (java) total-vm:19362kB'),
  ],
};

const IDLE = { ActiveState: 'inactive', SubState: 'dead', Result: 'success', NRestarts: '0' };

const FIRST_CRASH: StoppedWorker = {
  unit: {
    ...UNIT,
    ...{ ActiveState: 'activating', SubState: 'auto-restart', Result: 'exit-code' },
    ...{ ExecMainStatus: '1', NRestarts: '0' },
  },
  journal: CRASHED.journal ?? [],
};

/** A volume's plugin did not answer once; then somebody stopped the kubelet. */
const CSI_REFUSED = kubelet(
  '16:38:11',
  'E0404 16:38:11.600016     812 csi_plugin.go:305] "kubernetes.io/csi: plugin is not reachable" err="rpc error: code = Unavailable desc = connection error: desc = \\"transport: Error while dialing: dial unix /var/lib/kubelet/plugins/nfs.csi.k8s.io/csi.sock: connect: connection refused\\""',
);

/** k3s exits with code 1 on SIGTERM. */
const restartedByPerson = (time: string) => [
  systemd(`${time}:00`, 'Stopping Lightweight Kubernetes...'),
  systemd(`${time}:01`, 'k3s.service: Main process exited, code=exited, status=1/FAILURE'),
  systemd(`${time}:01`, "k3s.service: Failed with result 'exit-code'."),
  systemd(`${time}:01`, 'Stopped Lightweight Kubernetes.'),
  systemd(`${time}:02`, 'Started Lightweight Kubernetes.'),
];

const NO_UNIT = {
  unit: { Id: 'kubelet.service', LoadState: 'not-found', ActiveState: 'inactive' },
};

/** A kubelet that runs, for so long. */
function running(
  ageS: number,
  journal: readonly string[],
  stat = 'S',
  cut: Pick<StoppedWorker, 'journalLinesRead' | 'systemdLinesRead'> = {},
): NodeMaker {
  const maker = syntheticWorker({ version: 'v1.36.3', mounts: [] });
  maker.clock = new Date(NOW);
  maker.file('/proc/uptime', `${15.32 + ageS} 900.00\n`);
  const text = `812 (kubelet) ${stat} 1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 14 0 1532 1936203776 1\n`;
  maker.file('/proc/812/stat', text);
  const unit = { ...UNIT, ActiveState: 'active', SubState: 'running', Result: 'success' };
  addUnit(maker, KUBELET_UNITS, ['kubelet'], { unit, journal, ...cut });
  return maker;
}

const RESTARTED_ONCE = [
  systemd('16:39:40', 'Stopping kubelet: The Kubernetes Node Agent...'),
  systemd('16:39:40', 'kubelet.service: Main process exited, code=killed, status=15/TERM'),
  systemd('16:39:40', 'Stopped kubelet: The Kubernetes Node Agent.'),
  systemd('16:39:40', 'Started kubelet: The Kubernetes Node Agent.'),
];

const described: Readonly<Record<string, StoppedWorker>> = {
  'active-stopped': STOPPED,
  'active-crashed': CRASHED,
  'active-crash-loop': LOOPING,
  'active-out-of-memory': OUT_OF_MEMORY,
  'active-without-systemd': { journal: CRASHED.journal ?? [] },
  'active-crash-loop-without-systemd': { journal: LOOPING.journal ?? [] },
  'active-nobody-tells-why': {},
  'active-node-in-a-container': {
    pidNamespace: 'pid:[4026532211]',
    processes: [process(1, 'systemd', '/docker/4f0c/init.scope'), PAUSE],
  },
  'unclear-in-a-container': {
    pidNamespace: 'pid:[4026532211]',
    processes: [process(1, 'kubediag', '/')],
  },
  'unclear-not-root': { pidNamespace: null },
  'unclear-just-started': {
    ...STOPPED,
    processes: [INIT, process(813, 'kubelet', '/system.slice/kubelet.service')],
  },
  // Its first thread has ended; another one waits for a dead mount and cannot.
  'active-killed-and-waits-for-a-mount': {
    ...STOPPED,
    processes: [
      INIT,
      { ...process(813, 'kubelet', '/system.slice/kubelet.service'), state: 'D', thread: 830 },
    ],
  },
  'unclear-something-listens': { ...NO_UNIT, listens: true },
  'unclear-unit-is-active': {
    unit: { ...UNIT, ActiveState: 'active', SubState: 'running', Result: 'success' },
  },
  'unclear-booted-a-moment-ago': {
    unit: { ...UNIT, ...IDLE, StateChangeTimestamp: '' },
    ...{ processes: [INIT], uptimeS: 60 },
  },
  'active-stopped-soon-after-the-boot': { ...STOPPED, processes: [INIT], uptimeS: 200 },
  'unclear-being-started': {
    unit: {
      ...UNIT,
      ...{ ActiveState: 'activating', SubState: 'start-pre', Result: 'success', NRestarts: '0' },
    },
    journal: [
      ...(STOPPED.journal ?? []),
      systemd('16:39:59', 'Starting kubelet: The Kubernetes Node Agent...'),
    ],
  },
  'unclear-start-is-queued': { ...STOPPED, unit: { ...STOPPED.unit, Job: '1234' } },
  'active-first-crash': FIRST_CRASH,
  'active-crash-loop-without-journal': {
    unit: { ...LOOPING.unit, NRestarts: '5' },
  },
  'active-stopped-after-a-volume-failed': {
    ...STOPPED,
    journal: [STARTED, CSI_REFUSED, ...(STOPPED.journal ?? []).slice(2)],
  },
  'active-stopped-with-an-error': {
    unit: { ...CRASHED.unit, Id: 'k3s.service' },
    journal: [
      systemd('16:30:00', 'Started Lightweight Kubernetes.'),
      ...restartedByPerson('16:38').slice(0, -1),
    ],
  },
  'active-without-unit': NO_UNIT,
  'active-root-elsewhere': { ...CRASHED, isWithoutRoot: true, processes: [INIT] },
  'unclear-root-elsewhere': {
    ...{ isWithoutRoot: true, processes: [INIT] },
    unit: { ...UNIT, ...IDLE },
  },
  'unclear-root-elsewhere-in-a-container': {
    ...{ isWithoutRoot: true, pidNamespace: 'pid:[4026532211]' },
    processes: [process(1, 'kubediag', '/')],
  },
  // One sign of a kubelet is enough: its unit, its pods, or what it left of them.
  'active-meant-to-run-on-an-empty-node': {
    ...{ podFolders: [], processes: [INIT] },
    unit: { ...UNIT, ...IDLE },
  },
  'active-meant-to-run-until-the-next-boot': {
    ...{ podFolders: [], processes: [INIT] },
    unit: { ...UNIT, ...IDLE, UnitFileState: 'enabled-runtime' },
  },
  'active-failed-on-an-empty-node': {
    ...{ podFolders: [], processes: [INIT] },
    unit: { ...CRASHED.unit, UnitFileState: 'disabled' },
  },
  'active-pods-run-on': { ...NO_UNIT, podFolders: [] },
  'active-folders-of-pods-are-left': { ...NO_UNIT, processes: [INIT] },
  'active-only-a-line-is-left': {
    ...{ podFolders: [], processes: [INIT] },
    journal: [systemd('16:38:12', EXITED)],
  },
  'active-masked': { ...STOPPED, unit: { ...STOPPED.unit, UnitFileState: 'masked' } },
  'not-a-node-with-a-disabled-unit': {
    ...{ podFolders: [], processes: [INIT] },
    unit: { ...UNIT, ...IDLE, UnitFileState: 'disabled' },
  },
  'not-a-node-without-root': { ...NO_UNIT, isWithoutRoot: true, processes: [INIT] },
  'not-a-node': { ...NO_UNIT, podFolders: [], processes: [INIT] },
  'not-a-node-any-more': {
    ...NO_UNIT,
    ...{ podFolders: [], processes: [INIT], journal: CRASHED.journal ?? [] },
  },
};

export function nodes(): SyntheticNodes {
  return {
    ...syntheticNodes(described, stoppedWorker),
    healthy: running(86_400, []),
    'look-alike-just-restarted': running(20, RESTARTED_ONCE),
    'active-crash-loop-and-runs-now': running(8, LOOPING.journal ?? []),
    'active-crash-loop-in-a-full-journal': fullJournal(20),
    'unclear-cut-journal': fullJournal(2),
    'recovered-from-a-crash-loop': running(110, RECOVERED),
    'active-crash-loop-of-longer-runs': running(100, CRASHES_AFTER_A_MINUTE),
    'unclear-systemd-does-not-answer': silentSystemd(),
    'look-alike-restarted-several-times': running(10, RESTARTED_OFTEN),
    'healthy-clock-of-a-container': running(-12, LOOPING.journal ?? []),
    'active-paused': running(86_400, [], 'T'),
    'recorded-before-this-fault': withoutUptime(),
  };
}

/** The kubelet has written so much that few lines of systemd are among those that are read. */
function fullJournal(systemdLinesRead: number): NodeMaker {
  return running(8, LOOPING.journal ?? [], 'S', { journalLinesRead: 2, systemdLinesRead });
}

const RECOVERED = [
  ...[1, 2, 3].flatMap((minute) => [
    systemd(`16:3${minute}:00`, 'Started kubelet: The Kubernetes Node Agent.'),
    systemd(`16:3${minute}:01`, EXITED),
  ]),
  systemd('16:38:10', 'Started kubelet: The Kubernetes Node Agent.'),
];

/** Each run lasts for 50 seconds, so one of 100 seconds may end as they did. */
const CRASHES_AFTER_A_MINUTE = [32, 34, 36].flatMap((minute) => [
  systemd(`16:${minute}:00`, 'Started kubelet: The Kubernetes Node Agent.'),
  systemd(`16:${minute}:50`, EXITED),
]);

/** systemctl is there and fails; nothing else shows that a kubelet belongs here. */
function silentSystemd(): NodeMaker {
  const maker = stoppedWorker({ ...NO_UNIT, podFolders: [], processes: [INIT] });
  for (const key of [...maker.answers.keys()]) {
    if (key.includes('/usr/bin/systemctl') && key.startsWith('["version"')) {
      maker.answers.set(key, { failure: 'timeout' });
    }
  }
  return maker;
}

const RESTARTED_OFTEN = ['16:33', '16:36', '16:39'].flatMap((time) => restartedByPerson(time));

function withoutUptime(): NodeMaker {
  const maker = syntheticWorker({ version: 'v1.36.3', mounts: [] });
  makeFolder(maker, '/proc/812/root', `/var/lib/kubelet/pods/${POD}`);
  return maker;
}

/** What a clear node can do without. */
export const optionalReads: readonly OptionalReads[] = [
  {
    reads: /^log /,
    why: 'without a kubelet directory this is no node, whatever a log says',
    on: ['not-a-node-without-root'],
  },
];
