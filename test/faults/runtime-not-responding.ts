import type { FileStatus, ProcessEntry, ReadFailure } from '../../src/node/model/node-reader.ts';
import { makeProcess } from '../synthetic-kubelet.ts';
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

const SOCKET = '/run/containerd/containerd.sock';
const SLICE = '/system.slice/containerd.service';
const UNIT = { Id: 'containerd.service', LoadState: 'loaded', UnitFileState: 'enabled' };

const systemd = (time: string, text: string) =>
  `2026-04-04T${time}+0000 worker-7 systemd[1]: ${text}`;

const KILLED: Pick<StoppedWorker, 'unit' | 'journal'> = {
  unit: {
    ...UNIT,
    ...{ ActiveState: 'failed', SubState: 'failed', Result: 'signal', ExecMainStatus: '9' },
    ...{ NRestarts: '0', StateChangeTimestamp: 'Sat 2026-04-04 16:38:12 UTC' },
  },
  journal: [
    systemd('16:30:00', 'Started containerd container runtime.'),
    '2026-04-04T16:38:10+0000 worker-7 containerd[640]: time="2026-04-04T16:38:10.600016015Z" level=info msg="StopContainer for \\"4f0c\\" returns successfully"',
    systemd('16:38:12', 'containerd.service: Main process exited, code=killed, status=9/KILL'),
    systemd('16:38:12', "containerd.service: Failed with result 'signal'."),
  ],
};

const RUNS: Pick<StoppedWorker, 'unit' | 'journal'> = {
  unit: { ...UNIT, ActiveState: 'active', SubState: 'running', Result: 'success' },
};

interface SilentWorker extends Pick<StoppedWorker, 'unit' | 'journal' | 'kernel'> {
  readonly failure: ReadFailure;
  /** What the second call ends with; the same by default. */
  readonly second?: ReadFailure | 'answers';
  readonly runtime?: ProcessEntry;
  readonly isGuessed?: boolean;
  readonly isInView?: boolean;
  readonly podFolders?: readonly string[];
  /** One letter of the kernel, of the only process of a pod. */
  readonly podState?: string;
  readonly uptimeS?: number;
  /** What the two calls say of their failure, where that is special. */
  readonly details?: readonly [string, string];
  /** --runtime-endpoint */
  readonly endpoint?: string;
}

const WORDS: Partial<Record<ReadFailure, string>> = {
  refused: `nothing listens at ${SOCKET}`,
  missing: `there is no socket ${SOCKET}`,
  timeout: `no answer from ${SOCKET} within 5000 ms`,
};

function silentWorker(created: SilentWorker): NodeMaker {
  const { failure, second = failure, runtime, uptimeS = 90_000 } = created;
  const maker = syntheticWorker({ version: 'v1.36.3', mounts: [] });
  maker.clock = new Date(NOW);
  if (created.isGuessed) makeProcess(maker, { words: ['/usr/bin/kubelet'] });
  const { endpoint: socket = SOCKET, details } = created;
  if (created.endpoint) maker.settings = { ...maker.settings, runtimeEndpoint: created.endpoint };
  const failed = (why: ReadFailure, detail = WORDS[why]) => ({
    failure: why,
    ...(detail === undefined ? {} : { detail }),
  });
  maker.set('runtime', { socket, call: 'Version' }, failed(failure, details?.[0]));
  if (second !== 'answers') {
    maker.set('runtime', { socket, call: 'ListPodSandbox' }, failed(second, details?.[1]));
  }
  if (created.endpoint) maker.missing('status', created.endpoint);
  const view = { path: `/proc/812/root${SOCKET}` };
  maker.set('status', view, created.isInView ? { answer: AT_SOCKET } : { failure: 'missing' });
  const pods = created.podFolders ? [] : [{ ...PAUSE, state: created.podState ?? 'S' }];
  const all = [INIT, ...pods, ...(runtime ? [runtime] : [])];
  maker.set('processes', { all: 'processes' }, { answer: all });
  if (created.podFolders) maker.folder('/proc/812/root/var/lib/kubelet/pods', created.podFolders);
  maker.file('/proc/uptime', `${uptimeS}.00 900.00\n`);
  addUnit(maker, ['containerd.service'], ['containerd'], created);
  noLogFile(maker);
  return maker;
}

function noLogFile(maker: NodeMaker): void {
  const log = { file: '/var/log/containerd.log' };
  maker.set('log', { log, containing: [], lastBytes: 256 * 1024 }, { failure: 'missing' });
}

const AT_SOCKET: FileStatus = {
  ...{ type: 'socket', mode: 0o660, owner: 0, device: '0:26', inode: '9' },
  ...{ links: 1, sizeBytes: 0, modifiedMs: 0 },
};

const CONTAINERD = process(640, 'containerd', SLICE);

const TIME_IS_OVER = 'the time limit of 8 s (--timeout) was reached';
const NOT_ASKED = 'not asked, because 6 readers already wait on dead paths';

/** Docker in Docker: a containerd, paused, in a pod. */
const IN_A_POD = process(990, 'containerd', `/kubepods/besteffort/pod${POD}/4f0d`, 'T');

const described: Readonly<Record<string, SilentWorker>> = {
  'active-killed': { failure: 'refused', ...KILLED },
  'active-killed-with-its-pods': { failure: 'refused', ...KILLED, podState: 'Z' },
  'active-killed-without-systemd': { failure: 'refused' },
  'active-paused': {
    failure: 'timeout',
    ...RUNS,
    runtime: process(640, 'containerd', SLICE, 'T'),
  },
  'active-hangs': { failure: 'timeout', ...RUNS, runtime: CONTAINERD },
  'active-hangs-in-a-rare-state': {
    failure: 'timeout',
    ...RUNS,
    runtime: process(640, 'containerd', SLICE, 'I'),
  },
  'active-killed-and-its-unit-is-gone': {
    failure: 'refused',
    unit: { Id: 'containerd.service', LoadState: 'not-found', ActiveState: 'inactive' },
  },
  'active-socket-gone': { failure: 'missing', ...KILLED },
  'unclear-answers-the-second-call': { failure: 'timeout', second: 'answers', runtime: CONTAINERD },
  'unclear-just-started': { failure: 'refused', runtime: CONTAINERD, uptimeS: 20 },
  'unclear-other-endpoint': { failure: 'missing', endpoint: '/run/containerd/containerd.sok' },
  'unclear-stale-endpoint': { failure: 'refused', endpoint: '/run/crio/crio.sock' },
  'active-same-endpoint': { failure: 'refused', ...KILLED, endpoint: `/var${SOCKET}` },
  'unclear-endpoint-of-a-silent-kubelet': {
    ...{ failure: 'refused', isGuessed: true, endpoint: SOCKET },
  },
  'unclear-our-time-is-over': {
    ...{ failure: 'timeout', second: 'not-asked', ...RUNS, runtime: CONTAINERD },
    details: [`no answer from ${SOCKET} within 5000 ms`, TIME_IS_OVER],
  },
  'unclear-not-asked': {
    ...{ failure: 'not-asked', ...RUNS, runtime: CONTAINERD },
    details: [NOT_ASKED, NOT_ASKED],
  },
  'unclear-restarts': { failure: 'timeout', second: 'refused', ...RUNS, runtime: CONTAINERD },
  'unclear-just-started-and-slow': {
    ...{ failure: 'timeout', ...RUNS, runtime: CONTAINERD, uptimeS: 20 },
  },
  'active-clock-of-a-container': { failure: 'refused', ...RUNS, runtime: CONTAINERD, uptimeS: 3 },
  'unclear-being-started': {
    failure: 'refused',
    unit: { ...UNIT, ActiveState: 'activating', SubState: 'start-pre', Result: 'success' },
  },
  'active-hangs-and-another-in-a-pod': { failure: 'timeout', ...RUNS, runtime: IN_A_POD },
  'unclear-not-root': { failure: 'denied' },
  'unclear-no-cri': { failure: 'unsupported' },
  'unclear-guessed': { failure: 'refused', isGuessed: true },
  'unclear-socket-of-the-kubelet': { failure: 'missing', isInView: true },
  'unclear-socket-gone-without-pods': { failure: 'missing', podFolders: [] },
};

/** Both are dead; the kubelet's log says where it looked for the runtime. */
function bothDead(): NodeMaker {
  const refused =
    '2026-04-04T16:38:11+0000 worker-7 kubelet[812]: E0404 16:38:11.600016     812 run.go:74] "command failed" err="failed to run Kubelet: unable to determine runtime API version: rpc error: code = Unavailable desc = connection error: desc = \\"transport: Error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused\\""';
  const maker = stoppedWorker({ journal: [refused] });
  for (const call of ['Version', 'ListPodSandbox'] as const) {
    const detail = WORDS.refused ?? '';
    maker.set('runtime', { socket: SOCKET, call }, { failure: 'refused', detail });
  }
  addUnit(maker, ['containerd.service'], ['containerd'], KILLED);
  noLogFile(maker);
  return maker;
}

/** The kubelet was stopped; a socket that its log names is of a plugin, and not of the runtime. */
function withPluginLine(): NodeMaker {
  const plugin = '/var/lib/kubelet/plugins/nfs.csi.k8s.io/csi.sock';
  const line = `2026-04-04T16:38:11+0000 worker-7 kubelet[812]: E0404 16:38:11.600016     812 csi_plugin.go:305] "kubernetes.io/csi: plugin is not reachable" err="rpc error: code = Unavailable desc = connection error: desc = \\"transport: Error while dialing: dial unix ${plugin}: connect: connection refused\\""`;
  const maker = stoppedWorker({ journal: [line] });
  for (const call of ['Version', 'ListPodSandbox'] as const) {
    maker.set(
      'runtime',
      { socket: plugin, call },
      { failure: 'refused', detail: 'nothing listens' },
    );
  }
  addUnit(maker, ['containerd.service'], ['containerd'], RUNS);
  noLogFile(maker);
  return maker;
}

export function nodes(): SyntheticNodes {
  return {
    ...syntheticNodes(described, silentWorker),
    healthy: syntheticWorker({ version: 'v1.36.3', mounts: [] }),
    'active-named-by-the-log': bothDead(),
    'unclear-log-of-a-plugin': withPluginLine(),
  };
}
