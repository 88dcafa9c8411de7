import { describe, expect, test } from 'vitest';
import { nodes, ORPHAN } from '../../../../test/faults/dead-volume-mount.ts';
import { type NodeMaker, nodeNamed } from '../../../../test/synthetic-node.ts';
import { KUBELET_ROOT, syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { redactAnswer } from '../../redaction/redact.ts';
import { health, healthIn } from '../kubelet/health.ts';
import { orphanPods } from '../pods/orphan-pods.ts';
import { podPathOf } from '../pods/pod-path.ts';
import { staticPods } from '../pods/static-pods.ts';
import { blockedThreads } from '../stacks/blocked-threads.ts';
import { mountProbes } from './mount-probes.ts';
import { parseMountTable } from './mount-table.ts';
import { isSuspectType, suspectsIn } from './suspect-mounts.ts';

const fixture = (name: string) => nodeNamed(name, nodes());

describe('the health page', () => {
  test.each([
    ['[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed', 'failing'],
    ['[-]syncloop failed: sync Loop took longer than expected\n', 'failing'],
    ['internal server error: sync Loop took longer than expected\n', 'failing'],
    ['[+]ping ok\r\n[-]syncloop failed: reason withheld\r\n', 'failing'],
    ['[+]ping ok\n[-]log failed: reason withheld\n[+]syncloop ok\n[+]device-plugin ok', 'ok'],
  ])('%j means that the loop is %s', (text, loop) => {
    expect(healthIn(text)?.loop).toBe(loop);
  });

  test.each(['ok', '', 'Unauthorized', 'note: [-]syncloop failed in March', '[+]ping ok'])(
    '%j says nothing of the loop',
    (text) => expect(healthIn(text)).toBeUndefined(),
  );

  test('is requested from each endpoint until one answers', async () => {
    const maker = fixture('healthy');
    const endpoint = {
      scheme: 'http',
      address: '127.0.0.1',
      port: 10255,
      path: '/healthz',
    } as const;
    maker.set('kubelet', endpoint, { failure: 'refused' });
    const reported = await takeSnapshot(maker.build()).of(health);
    expect(reported).toMatchObject({
      loop: 'ok',
      origin: { url: 'http://127.0.0.1:10255/healthz/syncloop' },
    });
  });

  test('a malformed page is an error, never "ok"', async () => {
    const maker = fixture('healthy');
    for (const scheme of ['http', 'https'] as const) {
      for (const path of ['/healthz', '/healthz/syncloop']) {
        const port = scheme === 'http' ? 10255 : 10250;
        const asked = { scheme, address: '127.0.0.1', port, path };
        maker.set('kubelet', asked, { answer: { status: 200, body: '<html>ok</html>' } });
      }
    }
    await expect(takeSnapshot(maker.build()).of(health)).rejects.toThrow(
      'no word of the sync loop',
    );
  });
});

test.each([
  ['nfs4', true],
  ['ceph', true],
  ['fuse', true],
  ['fuse.s3fs', true],
  ['fuseblk', true],
  ['virtiofs', true],
  ['fusectl', false],
  ['ext4', false],
  ['tmpfs', false],
])('an access to %s can wait for a server: %s', (type, isSuspect) => {
  expect(isSuspectType(type)).toBe(isSuspect);
});

test('only mounts below pods and plugins are suspects, and visible if no other mount covers them', () => {
  const at = (id: number, parent: number, target: string, type: string, device = '0:57') =>
    `${id} ${parent} ${device} / ${target} rw - ${type} source rw`;
  const pod = `${KUBELET_ROOT}/pods/${ORPHAN}/volumes/kubernetes.io~nfs/a`;
  const table = parseMountTable(
    [
      at(1, 0, '/', 'ext4', '254:1'),
      at(2, 1, pod, 'nfs'),
      at(3, 2, pod, 'nfs', '0:58'),
      at(4, 1, `${KUBELET_ROOT}/plugins/kubernetes.io/csi/x/globalmount`, 'ceph'),
      at(5, 1, '/home', 'nfs'),
      at(6, 1, `${KUBELET_ROOT}/podsx/b`, 'nfs'),
      '',
    ].join('\n'),
    'x',
  );
  const suspects = suspectsIn(table, { root: KUBELET_ROOT });
  expect(
    suspects.map(({ mount, isVisible, pod: of }) => [mount.id, isVisible, of?.podUid]),
  ).toEqual([
    [2, false, ORPHAN],
    [3, true, ORPHAN],
    [4, true, undefined],
  ]);
});

test('parses a path of a pod below the resolved and the configured root', () => {
  const roots = { root: '/data/kubelet', configuredRoot: KUBELET_ROOT };
  for (const root of Object.values(roots)) {
    expect(podPathOf(`${root}/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount`, roots)).toEqual({
      podUid: 'u1',
      rest: 'volumes/kubernetes.io~csi/pvc-1/mount',
      plugin: 'kubernetes.io~csi',
      volume: 'pvc-1',
    });
  }
  expect(podPathOf('/data/kubelet/pods-old/u1/volumes/a/b', roots)).toBeUndefined();
  expect(podPathOf('/data/kubelet/pods/../etc', roots)).toBeUndefined();
});

test('a thread is blocked if it is in a system call on a path of a pod, and not if it runs', async () => {
  const maker = fixture('active-cephfs');
  const { threads } = await takeSnapshot(maker.build()).of(blockedThreads);
  expect(threads).toMatchObject([{ tid: 830, call: 'newfstatat', podUid: ORPHAN, state: 'S' }]);
  const recorded = [...maker.answers].find(([key]) => key.startsWith('["threads"'));
  const answer = recorded && 'answer' in recorded[1] ? (recorded[1].answer as never[]) : [];
  const running = answer.map((thread) => ({ ...(thread as object), state: 'R' }));
  maker.set('threads', { threadsOf: 812 }, { answer: running as never });
  expect((await takeSnapshot(maker.build()).of(blockedThreads)).threads).toEqual([]);
});

describe('a probe', () => {
  const stateOf = async (maker: NodeMaker) => {
    const { probes } = await takeSnapshot(maker.build()).of(mountProbes);
    return probes.map(({ result }) => result.state);
  };
  const target = `${KUBELET_ROOT}/pods/${ORPHAN}/volumes/kubernetes.io~cephfs/data`;
  const path = `/proc/812/root${target}`;

  test.each([
    ['active-cephfs', ['dead']],
    ['only-slow', ['alive']],
    ['daemon-gone', ['corrupted']],
    ['covered-by-another', ['not-probed']],
    ['healthy-with-network-volumes', ['alive']],
    ['recorded-before-live-pods-were-asked', []],
  ])('on the node %s returns %j', async (name, states) => {
    expect(await stateOf(fixture(name))).toEqual(states);
  });

  test.each([
    ['not-asked', 'the time limit of 30 s (--timeout) was reached', 'not-probed'],
    ['timeout', `ETIMEDOUT: connection timed out, lstat '${path}'`, 'corrupted'],
    ['timeout', 'reader 4711 still waits there', 'dead'],
  ] as const)('that ends as %s with %j is %s', async (failure, detail, state) => {
    const maker = fixture('active-cephfs');
    for (const question of [{ path }, { path, patience: 'long' as const }]) {
      maker.set('status', question, { failure, detail });
    }
    expect(await stateOf(maker)).toEqual([state]);
  });

  test('is not sent to a fifth mount once four are dead', async () => {
    const mounts = [1, 2, 3, 4, 5, 6].map(
      (n) => `${n + 300} 27 0:${n + 60} / ${target}${n} rw - nfs4 nas:/x rw`,
    );
    const maker = syntheticWorker({ mounts, version: 'v1.18.8', pods: [] });
    maker.set('processes', { all: 'processes' }, { answer: [] });
    maker.set('threads', { threadsOf: 812 }, { answer: [] });
    for (const n of [1, 2, 3, 4, 5, 6]) {
      for (const question of [
        { path: `${path}${n}` },
        { path: `${path}${n}`, patience: 'long' as const },
      ]) {
        maker.set('status', question, { failure: 'timeout' });
      }
    }
    expect(await stateOf(maker)).toEqual([...Array(4).fill('dead'), 'not-probed', 'not-probed']);
  });
});

describe('the state of a pod', () => {
  const lifeOn = async (maker: NodeMaker, uid = ORPHAN) =>
    (await takeSnapshot(maker.build()).of(orphanPods)).lifeOf(uid);

  test.each([
    ['active-cephfs', 'orphan'],
    ['pod-lives-in-its-cgroup', 'live'],
    ['stopped-sandbox-and-no-list', 'uncertain'],
  ])('on the node %s is %s', async (name, state) => {
    expect((await lifeOn(fixture(name))).state).toBe(state);
  });

  test.each([
    ['S', 'live'],
    ['Z', 'orphan'],
    ['X', 'orphan'],
  ])('with a process of state %s in its cgroup is %s', async (state, life) => {
    const maker = fixture('pod-lives-in-its-cgroup');
    for (const [key, value] of maker.answers) {
      if (!key.startsWith('["processes"') || !('answer' in value)) continue;
      const answer = (value.answer as object[]).map((process) => ({ ...process, state }));
      maker.answers.set(key, { answer } as unknown as typeof value);
    }
    expect((await lifeOn(maker)).state).toBe(life);
  });

  test('a list without a pod from the API server proves nothing', async () => {
    expect(await lifeOn(fixture('latent-list-of-static-pods-only'))).toMatchObject({
      state: 'orphan',
      needsConfirmation: expect.stringContaining('no pod from the API server'),
    });
  });

  test('a pod with the uid of a static pod is unknown without the list', async () => {
    const uid = '0123456789abcdef0123456789abcdef';
    const maker = fixture('active-without-any-credential');
    expect((await lifeOn(maker, uid)).state).toBe('orphan');
    maker.file('/proc/812/cmdline', 'kubelet\0--pod-manifest-path=/etc/manifests\0');
    const folder = '/proc/812/root/etc/manifests';
    const status = { mode: 0o755, owner: 0, device: '254:1', inode: '3', links: 2 } as const;
    const answer = { type: 'folder', ...status, sizeBytes: 0, modifiedMs: 0 } as const;
    maker.set('status', { path: folder }, { answer }).folder(folder, ['etcd.yaml', '.swp']);
    maker.file(`${folder}/etcd.yaml`, `metadata: {name: etcd, uid: ${ORPHAN}}\n`);
    expect((await lifeOn(maker, uid)).state).toBe('uncertain');
    expect(await lifeOn(maker)).toMatchObject({
      state: 'live',
      by: expect.stringContaining('static pod'),
    });
    const { uids, isNone } = await takeSnapshot(maker.build()).of(staticPods);
    expect([[...uids], isNone]).toEqual([[ORPHAN], false]);
  });

  test.each(['runtime', 'processes'])('is uncertain when %s does not answer', async (kind) => {
    const maker = fixture('active-cephfs');
    for (const key of maker.answers.keys()) {
      if (key.startsWith(`["${kind}"`)) maker.answers.set(key, { failure: 'timeout' });
    }
    expect((await lifeOn(maker)).state).toBe('uncertain');
  });
});

describe('a bundle contains', () => {
  const view = '/proc/812/root';

  test('the waiting requests of a FUSE server, and the health pages', () => {
    const path = `${view}/sys/fs/fuse/connections/57/waiting`;
    expect(redactAnswer('file', { path }, '3\n')).toBe('3\n');
    expect(redactAnswer('file', { path }, 'token=x')).not.toContain('x');
    const page = { scheme: 'http', address: '127.0.0.1', port: 10255, path: '/healthz' } as const;
    const answer = { status: 500, body: '[-]syncloop failed: reason withheld' };
    expect(redactAnswer('kubelet', page, answer)).toEqual(answer);
  });

  test('the uid in the file of a static pod, and no value of its environment', () => {
    const path = `${view}/etc/kubernetes/manifests/etcd.yaml`;
    const text = `metadata: {name: etcd, uid: ${ORPHAN}}\nspec: {env: [{name: A, value: hunter2}]}\n`;
    const safe = redactAnswer('file', { path }, text);
    expect(safe).toContain(ORPHAN);
    expect(safe).not.toContain('hunter2');
  });
});
