import { describe, expect, test } from 'vitest';
import { textAt } from '../../src/lib/std/json.ts';
import { healthyObjects } from '../healthy-pods.ts';
import type { ContainerStatus, ListedContainer } from '../practice-node.ts';
import { collectable } from './collect-containers.ts';
import { podIn } from './pod.ts';
import { backOffMs, backOffWord, listedPod, phaseOf, type Waiting } from './pod-status.ts';
import { filesOf } from './volume-files.ts';

const PODS = healthyObjects().flatMap((object) => (object.kind === 'Pod' ? [podIn(object)] : []));
const [WEB, SHOP, LABELS] = PODS;
if (!WEB || !SHOP || !LABELS) throw new Error('there should be four healthy pods');

const RUNNING: ContainerStatus = {
  state: 'running',
  exitCode: 0,
  reason: '',
  message: '',
  logPath: '/var/log/pods/a/app/0.log',
  startedAt: 1_000,
  finishedAt: 0,
};
const REFUSED: ContainerStatus = {
  ...RUNNING,
  state: 'exited',
  exitCode: 128,
  reason: 'StartError',
  message: 'no such file or directory',
  startedAt: 0,
  finishedAt: 2_000,
};

function container(attempt: number, more: Partial<ListedContainer> = {}): ListedContainer {
  const labels = { 'io.kubernetes.pod.uid': WEB?.uid ?? '' };
  return { id: `c${attempt}`, podId: 's', name: 'app', attempt, state: 'exited', labels, ...more };
}

function sightOf(status: ContainerStatus, waiting?: Waiting) {
  return {
    containers: new Map([['app', { listed: container(3), status }]]),
    waiting: new Map(waiting ? [['app', waiting]] : []),
    since: new Date(0),
  };
}

describe('the list of the kubelet', () => {
  test('shows where a pod came from, and that it runs', () => {
    const listed = listedPod(WEB, sightOf(RUNNING));
    expect(textAt(listed, 'metadata', 'annotations', 'kubernetes.io/config.source')).toBe('api');
    expect(listed).toMatchObject({
      status: { phase: 'Running', containerStatuses: [{ ready: true, restartCount: 3 }] },
    });
  });

  test('shows a failed start in the last state while the container backs off', () => {
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off 20s restarting' };
    const { status } = listedPod(WEB, sightOf(REFUSED, waiting)) as { status?: unknown };
    expect(status).toMatchObject({
      containerStatuses: [
        {
          state: { waiting },
          lastState: {
            terminated: { exitCode: 128, reason: 'StartError', startedAt: '1970-01-01T00:00:00Z' },
          },
        },
      ],
    });
  });

  test('reports a final phase only if no container will be restarted', () => {
    const ended = { ...REFUSED, exitCode: 0 };
    expect(phaseOf(WEB, sightOf(ended))).toBe('Running');
    expect(phaseOf({ ...WEB, restartPolicy: 'Never' }, sightOf(ended))).toBe('Succeeded');
    expect(phaseOf({ ...WEB, restartPolicy: 'Never' }, sightOf(REFUSED))).toBe('Failed');
    expect(phaseOf(WEB, { ...sightOf(ended), containers: new Map() })).toBe('Pending');
  });
});

test('the restart delay starts at zero and grows, and is written as in a kubelet', () => {
  expect(backOffMs(0)).toBe(0);
  expect([1, 2, 5, 6, 20].map((restarts) => backOffWord(backOffMs(restarts)))).toEqual([
    '10s',
    '20s',
    '2m40s',
    '5m0s',
    '5m0s',
  ]);
});

test('only the last exited container of a known pod is retained', () => {
  const running = container(3, { state: 'running' });
  const unknownContainer = container(0, { id: 'x', labels: {} });
  const all = [container(1), running, unknownContainer, container(2)];
  const idsFor = (...uids: string[]) => collectable(all, new Set(uids)).map(({ id }) => id);
  expect(idsFor(WEB.uid)).toEqual(['c1', 'x']);
  expect(idsFor()).toEqual(['c2', 'c1', 'x']);
});

describe('the files of a volume', () => {
  const reported = {
    pods: [],
    filesOf: (kind: string, _: string, name: string) =>
      name.startsWith('shop') ? { [`${kind}.txt`]: 'x' } : undefined,
  };
  const filesIn = (pod: typeof WEB, volume: string) => {
    const found = pod.volumes.find(({ name }) => name === volume);
    return found && filesOf(found, pod, reported);
  };

  test('a projected volume has the files of all its sources', () => {
    expect(filesIn(SHOP, 'all')).toEqual({ 'configmaps.txt': 'x', 'secrets.txt': 'x' });
  });

  test('a downwardAPI volume has the fields of the pod', () => {
    expect(filesIn(LABELS, 'about')).toEqual({ labels: 'app="labels-0"\n' });
  });

  test('an emptyDir has none, and a missing object is an error', () => {
    expect(filesIn(SHOP, 'scratch')).toBeUndefined();
    expect(() => filesIn(WEB, 'settings')).toThrow('configmap "web-settings" not found');
  });
});
