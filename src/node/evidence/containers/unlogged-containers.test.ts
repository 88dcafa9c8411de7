import { expect, test } from 'vitest';
import type { NodeMaker } from '../../../../test/synthetic-node.ts';
import {
  type SyntheticContainer,
  type SyntheticWorker,
  syntheticWorker,
} from '../../../../test/synthetic-worker.ts';
import { judgeFaults } from '../../checkup/judge-faults.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { containerWithoutLogPath } from '../../faults/container-without-log-path/fault.ts';
import { redactionRules } from '../../faults/index.ts';
import { RecordingNode } from '../../recording/recorded-node.ts';
import { questionOf } from '../../recording/recording.ts';
import { redactRuntime } from '../../redaction/redact-runtime.ts';
import { listensOn } from '../processes/listening-port.ts';
import { producerOf } from './container-producer.ts';
import { unloggedContainers } from './unlogged-containers.ts';

const SOCKET = '/run/containerd/containerd.sock';
const ours = (index: number): SyntheticContainer => ({
  ...{ id: index.toString(16).padStart(8, '0'), name: 'app', state: 'CONTAINER_RUNNING' },
});
const bare: SyntheticContainer = {
  ...{ id: 'f1', name: 'mqtt', state: 'CONTAINER_EXITED', isUnmanaged: true, logPath: '' },
};

const PODS = '/proc/812/root/var/lib/kubelet/pods';

async function collected(
  worker: Partial<SyntheticWorker>,
  change: (maker: NodeMaker) => void = () => {},
) {
  const maker = syntheticWorker({ mounts: [], ...worker }).folder('/proc/812/cwd', []);
  change(maker);
  maker.missing(
    'status',
    '/proc/812/root/var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d',
  );
  const node = new RecordingNode(maker.build());
  const found = await takeSnapshot(node).of(unloggedContainers);
  const asked = [...node.recording.answers.keys()]
    .map(questionOf)
    .filter(({ question }) => 'call' in question && question.call === 'ContainerStatus');
  const verbose = asked.filter(({ question }) => 'verbose' in question).length;
  return {
    found: found.containers.map(({ id }) => id.slice(0, 8)),
    asked: asked.length - verbose,
    verbose,
  };
}

test('a thousand containers of the kubelet take one call', async () => {
  const containers = Array.from({ length: 1_000 }, (_, index) => ours(index));
  expect(await collected({ containers })).toEqual({ found: [], asked: 1, verbose: 0 });
  expect(await collected({ containers: [...containers, bare] })).toEqual({
    ...{ found: ['f1cccccc'], asked: 2 },
    // The verbose status is read only for a suspect: the settings of other containers are private.
    verbose: 1,
  });
});

test('a container that does not run is always checked', async () => {
  const ended = { ...bare, isUnmanaged: false };
  const { found, asked } = await collected({ containers: [ours(1), ended] });
  expect({ found, asked }).toEqual({ found: ['f1cccccc'], asked: 2 });
  const created = { ...ended, state: 'CONTAINER_CREATED' } as const;
  expect(await collected({ containers: [ours(1), created] })).toMatchObject({ found });
});

test('a running container with the labels of the kubelet is checked if the kubelet does not know its pod', async () => {
  const stray = { ...bare, isUnmanaged: false, state: 'CONTAINER_RUNNING' } as const;
  const uid = '8f14e45f-ceea-467f-a8f1-0c6c6d1e5a11';
  const containers = [ours(1), { ...stray, podUid: uid }];
  const forget = (maker: NodeMaker) => {
    maker
      .folder(PODS, ['29da79e5-386c-4e0d-82c1-215f93ff955d'])
      .missing('status', `${PODS}/${uid}`);
  };
  expect(await collected({ containers }, forget)).toMatchObject({ found: ['f1cccccc'], asked: 2 });
  // If the pod directories cannot be listed, every container is checked.
  const hide = (maker: NodeMaker) => {
    forget(maker);
    maker.set('folder', { path: PODS }, { failure: 'timeout' });
  };
  expect(await collected({ containers }, hide)).toMatchObject({ found: ['f1cccccc'], asked: 2 });
});

test('if the runtime loses log paths, all containers are checked', async () => {
  const containers = [1, 2, 3].map((index) => ({ ...ours(index), logPath: '' }));
  expect(await collected({ containers })).toMatchObject({ asked: 3 });
});

test('an answer without the field is malformed', async () => {
  const maker = syntheticWorker({ mounts: [], containers: [bare] });
  const id = 'f1'.padEnd(64, 'c');
  const message = { status: { id, state: 'CONTAINER_EXITED' } };
  const asked = { socket: SOCKET, call: 'ContainerStatus', id } as const;
  maker.set('runtime', asked, { answer: { criVersion: 'v1', message } });
  const snapshot = takeSnapshot(maker.build());
  await expect(snapshot.of(unloggedContainers)).rejects.toMatchObject({ failure: 'malformed' });
});

test('a container that is removed during the check is not reported', async () => {
  const maker = syntheticWorker({ mounts: [], containers: [bare] });
  const id = 'f1'.padEnd(64, 'c');
  const asked = { socket: SOCKET, call: 'ContainerStatus', id } as const;
  maker.set('runtime', asked, { failure: 'missing' });
  const { containers } = await takeSnapshot(maker.build()).of(unloggedContainers);
  expect(containers).toEqual([]);
});

test('a pod UID that leads out of the pods directory is not read', async () => {
  const labels = { 'io.kubernetes.pod.uid': '../../../etc' };
  const maker = syntheticWorker({ mounts: [], containers: [{ ...bare, labels }] });
  maker.folder('/proc/812/cwd', []);
  const { containers } = await takeSnapshot(maker.build()).of(unloggedContainers);
  expect(containers).toMatchObject([{ podUid: '../../../etc', hasPodFolder: false }]);
});

test('reports too many unknown containers without reading each status', async () => {
  const containers = Array.from({ length: 5_001 }, (_, index) => ({
    ...ours(index),
    isUnmanaged: true,
  }));
  const snapshot = takeSnapshot(syntheticWorker({ mounts: [], containers }).build());
  await expect(snapshot.of(unloggedContainers)).rejects.toMatchObject({ failure: 'too-large' });
  const [judged] = await judgeFaults([containerWithoutLogPath], snapshot);
  expect(judged?.verdict.state).toBe('unknown');
});

const fixture = { image: 'x', name: 'c', isKeadmsBroker: false, sandbox: undefined };
const sandbox = (podName: string, podNamespace = '', podUid = '') => ({
  ...{ podName, podNamespace, podUid },
});

test.each([
  ['its label', 'keadm-mqtt', { ...fixture, isKeadmsBroker: true }],
  [
    'names and image',
    'keadm-mqtt',
    { ...fixture, name: 'mqtt', image: 'eclipse-mosquitto:1.6.15', sandbox: sandbox('mqtt') },
  ],
  [
    'the same of a pod with a UID',
    'unknown',
    {
      ...fixture,
      name: 'mqtt',
      image: 'eclipse-mosquitto:2',
      sandbox: sandbox('mqtt', 'a', 'u-1'),
    },
  ],
  [
    'another image',
    'unknown',
    { ...fixture, name: 'mqtt', image: 'not-eclipse-mosquitto:1', sandbox: sandbox('mqtt') },
  ],
  [
    'the installation package',
    'keadm-installation',
    {
      ...fixture,
      name: 'container',
      image: 'mirror.example/kubeedge/installation-package:v1.16.0',
      sandbox: sandbox('edgecore', 'kubeedge', '0b51-uid'),
    },
  ],
  ['nothing', 'unknown', fixture],
])('the producer by %s: %s', (_, producer, each) => {
  expect(producerOf(each)).toBe(producer);
});

test('finds the listening port in both kernel tables', () => {
  const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid';
  const v4 = '   0: 00000000:075B 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1883 0 5';
  const v6 = `   0: ${'0'.repeat(32)}:075B ${'0'.repeat(32)}:0000 0A 00000000:00000000 00:00000000`;
  const client =
    '   1: 0100007F:D2F0 0100007F:075B 01 00000000:00000000 00:00000000 00000000 0 0 5';
  const accepted =
    '   2: 0100007F:075B 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000 0 0 5';
  expect(listensOn([head, v4].join('\n'), 1883)).toBe(true);
  expect(listensOn([head, v6].join('\n'), 1883)).toBe(true);
  expect(listensOn([head, client, accepted].join('\n'), 1883)).toBe(false);
  expect(listensOn([head, v4].join('\n'), 9001)).toBe(false);
});

test('a bundle contains what identifies a container, and none of its settings', () => {
  const config = {
    image: { image: 'eclipse-mosquitto:1.6.15' },
    command: ['/usr/sbin/mosquitto', '--password=hunter2', '-uroot', '-phunter2', 'hunter2'],
    args: ['hunter2', '{"client_secret":"hunter2"}', '--db-pw', 'hunter2'],
    annotations: { 'io.kubernetes.pod.note': 'hunter2' },
    envs: [{ key: 'PASSWORD', value: 'hunter2' }],
    mounts: [{ container_path: '/mosquitto', host_path: '/var/lib/kubeedge', secret: 'hunter2' }],
  };
  const info = { info: JSON.stringify({ pid: 7, config, runtimeSpec: { process: 'hunter2' } }) };
  const status = {
    id: 'f1',
    logPath: '',
    labels: { 'io.kubeedge.edgecore/mqtt': 'mqtt', 'io.kubernetes.x': 'hunter2' },
  };
  const text = JSON.stringify(redactRuntime({ status, info }, redactionRules));
  expect(text).not.toContain('hunter2');
  for (const part of ['eclipse-mosquitto', '/usr/sbin/mosquitto', '/mosquitto\\"', 'PASSWORD']) {
    expect(text).toContain(part);
  }
  expect(text).toContain('io.kubeedge.edgecore/mqtt');
  expect(redactRuntime({ info: { info: 'no JSON, hunter2' } }, redactionRules)).toEqual({
    info: { info: '<redacted>' },
  });
});
