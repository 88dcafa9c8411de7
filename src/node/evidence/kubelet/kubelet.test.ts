import { describe, expect, test } from 'vitest';
import { FailingNode } from '../../../../test/failing-node.ts';
import {
  makeFolder,
  makeLink,
  makeProc,
  makeProcess,
  type SyntheticKubeletProcess,
} from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { SnapshotOptions } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import { kubelet } from './kubelet.ts';

const VIEW = '/proc/812/root';

function nodeWith(fixture: SyntheticKubeletProcess = {}, root = '/var/lib/kubelet'): NodeMaker {
  const maker = makeProc(new NodeMaker(), [812]);
  makeProcess(maker, fixture);
  return makeFolder(maker, VIEW, root);
}

function collect(maker: NodeMaker, settings: SnapshotOptions = {}) {
  return takeSnapshot(maker.build(), settings).of(kubelet);
}

async function failureOf(maker: NodeMaker, settings: SnapshotOptions = {}): Promise<ReadError> {
  const error: unknown = await collect(maker, settings).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ReadError);
  return error as ReadError;
}

describe('a running kubelet', () => {
  test('without any flag has the defaults of its version', async () => {
    expect(await collect(nodeWith())).toEqual({
      presence: 'running',
      program: 'kubelet',
      process: {
        pid: 812,
        startTime: '1532',
        mountNamespace: 'mnt:[4026531841]',
        workingFolder: '/',
        executable: '/usr/bin/kubelet',
      },
      root: '/var/lib/kubelet',
      rootOrigin: 'default',
      readOnlyPort: 10255,
      securePort: 10250,
      address: '127.0.0.1',
      nodeName: 'worker-7',
      rejected: [],
      unknowns: [],
    });
  });

  test('is configured by flags in all their spellings', async () => {
    const words = [
      '/usr/bin/kubelet',
      '--root_dir',
      '//data//kubelet/',
      '-container-runtime-endpoint=unix:///run/containerd/containerd.sock',
      '--address=10.0.0.7',
      '--read-only-port=0',
      '--port=10260',
      '--hostname-override=worker-8',
    ];
    expect(await collect(nodeWith({ words }, '/data/kubelet'))).toMatchObject({
      root: '/data/kubelet',
      rootOrigin: '/proc/812/cmdline',
      runtimeSocket: '/run/containerd/containerd.sock',
      address: '10.0.0.7',
      readOnlyPort: 0,
      securePort: 10260,
      nodeName: 'worker-8',
    });
  });

  test.each([
    ['unix:///run/crio/crio.sock', '/run/crio/crio.sock'],
    ['unix:/run/crio/crio.sock', '/run/crio/crio.sock'],
    ['/run/crio/crio.sock', '/run/crio/crio.sock'],
    ['tcp://127.0.0.1:3735', undefined],
    ['npipe:////./pipe/containerd', undefined],
  ])('reads the endpoint %s as the socket %s', async (endpoint, socket) => {
    const words = ['kubelet', '--container-runtime-endpoint', endpoint];
    expect((await collect(nodeWith({ words }))).runtimeSocket).toBe(socket);
  });

  test('has a root relative to its working directory', async () => {
    const maker = nodeWith({ words: ['kubelet', '--root-dir=state'] }, '/srv/state');
    expect((await collect(maker.link('/proc/812/cwd', '/srv'))).root).toBe('/srv/state');
  });

  test('has no root if its links form a cycle', async () => {
    const maker = makeLink(nodeWith(), VIEW, '/var/lib/kubelet', '/var/lib/kubelet');
    expect((await failureOf(maker)).message).toContain('more than 40 links');
  });

  test('reports the name of a root that does not exist', async () => {
    const maker = nodeWith().missing('status', `${VIEW}/var/lib/kubelet`);
    const error = await failureOf(maker);
    expect(error.failure).toBe('missing');
    expect(error.message).toContain('/var/lib/kubelet: the kubelet root does not exist');
  });

  test('with a hanging root is a timeout', async () => {
    const path = `${VIEW}/var/lib/kubelet`;
    const maker = nodeWith().set('status', { path }, { failure: 'timeout' });
    expect((await failureOf(maker)).failure).toBe('timeout');
  });

  test('has the root and the socket that the user names', async () => {
    const maker = makeFolder(nodeWith({ words: ['kubelet', '--root-dir=/gone'] }), VIEW, '/data');
    maker.missing('status', `${VIEW}/gone`);
    const settings = { kubeletRoot: '/data/', runtimeEndpoint: 'unix:///run/x.sock' };
    expect(await collect(maker, settings)).toMatchObject({
      root: '/data',
      rootOrigin: '--kubelet-root',
      runtimeSocket: '/run/x.sock',
    });
    const error = await failureOf(maker, { ...settings, runtimeEndpoint: 'tcp://10.0.0.1:1' });
    expect(error.failure).toBe('unsupported');
  });
});

describe('a configuration file', () => {
  const words = ['kubelet', '--config=etc/kubelet.yaml', '--port=10251'];
  const file = `${VIEW}/etc/kubelet.yaml`;

  test.each([
    [
      'YAML',
      'port: 1\nreadOnlyPort: 10255\naddress: 0.0.0.0\ncontainerRuntimeEndpoint: /run/c.sock',
    ],
    ['JSON', '{"readOnlyPort": 10255, "containerRuntimeEndpoint": "unix:///run/c.sock"}'],
  ])('in %s is read, and flags take precedence', async (_, text) => {
    expect(await collect(nodeWith({ words }).file(file, text))).toMatchObject({
      readOnlyPort: 10255,
      securePort: 10251,
      address: '127.0.0.1',
      runtimeSocket: '/run/c.sock',
      unknowns: [],
    });
  });

  test('closes the read-only port unless it sets one', async () => {
    expect((await collect(nodeWith({ words }).file(file, ''))).readOnlyPort).toBe(0);
  });

  test.each([
    ['cannot be read', { failure: 'denied' }],
    ['is no YAML', { answer: 'a: [' }],
    ['holds a list', { answer: '- a' }],
    ['names a port that is none', { answer: 'port: 99999' }],
    ['nests without end', { answer: '['.repeat(100_000) }],
  ] as const)('that %s is an unknown, and the root is still known', async (_, recorded) => {
    const found = await collect(nodeWith({ words }).set('file', { path: file }, recorded));
    expect(found.root).toBe('/var/lib/kubelet');
    expect(found.unknowns).toHaveLength(1);
    expect(found.unknowns[0]).toContain(file);
  });

  test('is extended by the files of a directory, in the order of their names', async () => {
    const maker = nodeWith({ words: ['kubelet', '--config-dir=/etc/kubelet.d'] })
      .folder(`${VIEW}/etc/kubelet.d`, ['20.conf', '10.conf', 'README'])
      .file(`${VIEW}/etc/kubelet.d/10.conf`, 'port: 1\naddress: 10.0.0.1')
      .file(`${VIEW}/etc/kubelet.d/20.conf`, 'port: 2');
    expect(await collect(maker)).toMatchObject({ securePort: 2, address: '10.0.0.1' });
  });
});

describe('which process is the kubelet', () => {
  test.each<[string, SyntheticKubeletProcess, string]>([
    ['another user', { user: 1000 }, "is not root's"],
    [
      'a pod of systemd',
      { cgroup: '/kubepods.slice/kubepods-pod1.slice/cri-containerd-4f.scope' },
      'pod',
    ],
    ['a pod of kind', { cgroup: '/kubelet/kubepods/besteffort/pod6f1c/4f0c' }, 'pod'],
    ['a pod without QoS', { cgroup: `/k8s.io/${'4f'.repeat(32)}` }, 'pod'],
    ['a pod of CRI-O', { cgroup: '/machine.slice/crio-4f0c11.scope' }, 'pod'],
    ['another PID namespace', { namespaceIds: [812, 1] }, 'PID namespace'],
    [
      'another PID namespace, on a kernel before 4.1',
      { namespaceIds: null, pidNamespace: 'pid:[4026532999]' },
      'PID namespace',
    ],
  ])('is not in, or of, %s', async (_, fixture, why) => {
    const maker = makeFolder(nodeWith(fixture), '', '/var/lib/kubelet');
    const found = await collect(maker);
    expect(found).toMatchObject({ presence: 'stopped', readOnlyPort: 0, securePort: 0 });
    expect(found.process).toBeUndefined();
    expect(found.rejected).toHaveLength(1);
    expect(found.rejected[0]?.pid).toBe(812);
    expect(found.rejected[0]?.why).toMatch(/^process 812 calls itself kubelet but /);
    expect(found.rejected[0]?.why).toContain(why);
    // A kubelet in a container may be the node's; one in a pod, or of another user, is not.
    expect(found.contradiction !== undefined).toBe(why === 'PID namespace');
  });

  test('may run in a plain container, as in some distributions', async () => {
    const found = await collect(nodeWith({ cgroup: `/docker/${'4f'.repeat(32)}` }));
    expect(found.presence).toBe('running');
  });

  test('is the one that the user names, without further checks', async () => {
    const maker = nodeWith({ user: 1000, comm: 'strange', words: ['/opt/strange'] });
    expect(await collect(maker, { kubeletPid: 812 })).toMatchObject({ presence: 'running' });
    expect(
      (await failureOf(maker.missing('file', '/proc/7/comm'), { kubeletPid: 7 })).failure,
    ).toBe('missing');
  });

  test('is an error if there are two', async () => {
    const maker = makeProc(nodeWith(), [812, 4711]);
    const error = await failureOf(makeProcess(maker, { pid: 4711 }));
    expect(error.failure).toBe('failed');
    expect(error.message).toMatch(/812 .*4711 .*--kubelet-pid/);
  });

  test('is not a forked child that has not yet executed its program', async () => {
    const maker = makeProc(nodeWith(), [812, 4711]);
    const found = await collect(makeProcess(maker, { pid: 4711, parent: 812 }));
    expect(found.process?.pid).toBe(812);
  });

  test.each(['comm', 'cmdline', 'status', 'cgroup'])(
    'is not a process that exits before we read its %s',
    async (name) => {
      const maker = nodeWith().missing('file', `/proc/812/${name}`);
      expect((await collect(makeFolder(maker, '', '/var/lib/kubelet'))).presence).toBe('stopped');
    },
  );

  test('is an error if a read failed, because that process may be the kubelet', async () => {
    const maker = nodeWith();
    const all = new FailingNode(maker.build(), () => false);
    await takeSnapshot(all).of(kubelet);
    for (const failing of all.asked.filter((key) => !key.includes('hostname'))) {
      const node = new FailingNode(maker.build(), (key) => key === failing);
      await expect(takeSnapshot(node).of(kubelet), failing).rejects.toBeInstanceOf(ReadError);
    }
  });

  test.each<[string, SyntheticKubeletProcess]>([
    ['hyperkube in another role', { comm: 'hyperkube', words: ['/hyperkube', 'proxy'] }],
    ['a tool of k3s', { comm: 'k3s', words: ['/usr/local/bin/k3s', 'ctr', 'c', 'ls'] }],
    ['k3s without an agent', { comm: 'k3s', words: ['k3s', 'server', '--disable-agent'] }],
    ['a zombie', { words: [] }],
    ['a process that prints its version', { words: ['kubelet', '--version'] }],
    [
      'rke2, which starts a separate kubelet',
      { comm: 'rke2', words: ['/usr/local/bin/rke2', 'server'] },
    ],
  ])('is not %s', async (_, fixture) => {
    const found = await collect(makeFolder(nodeWith(fixture), '', '/var/lib/kubelet'));
    expect(found).toMatchObject({ presence: 'stopped', rejected: [] });
  });
});

describe('a kubelet inside another program', () => {
  test('hyperkube', async () => {
    const words = ['/hyperkube', 'kubelet', '--root-dir=/data'];
    const found = await collect(nodeWith({ comm: 'hyperkube', words }, '/data'));
    expect(found).toMatchObject({ program: 'hyperkube', root: '/data' });
  });

  test('k3s, which hides its arguments', async () => {
    const maker = nodeWith({ comm: 'k3s-server', words: ['/usr/local/bin/k3s server', '', '  '] })
      .missing('file', `${VIEW}/etc/rancher/k3s/config.yaml`)
      .missing('folder', `${VIEW}/etc/rancher/k3s/config.yaml.d`);
    expect(await collect(maker)).toMatchObject({
      program: 'k3s',
      root: '/var/lib/kubelet',
      runtimeSocket: '/run/k3s/containerd/containerd.sock',
      readOnlyPort: 0,
    });
  });

  test.each([
    ['=', ['k3s', 'agent', '--kubelet-arg=root-dir=/data', '--node-name=edge-1']],
    [' ', ['k3s', 'agent', '--kubelet-arg', 'root-dir=/data', '--node-name', 'edge-1']],
  ])('k3s with kubelet-arg%s', async (_, words) => {
    const maker = nodeWith({ comm: 'k3s-agent', words }, '/data')
      .missing('file', `${VIEW}/etc/rancher/k3s/config.yaml`)
      .missing('folder', `${VIEW}/etc/rancher/k3s/config.yaml.d`);
    expect(await collect(maker)).toMatchObject({
      root: '/data',
      rootOrigin: '/proc/812/cmdline',
      nodeName: 'edge-1',
    });
  });

  test('k3s with a configuration file', async () => {
    const file = `${VIEW}/etc/rancher/k3s/config.yaml`;
    const maker = nodeWith({ comm: 'k3s-server', words: ['/usr/local/bin/k3s server'] }, '/data')
      .file(file, 'token: secret\nkubelet-arg:\n- root-dir=/data\n- read-only-port=10255')
      .folder(`${file}.d`, ['a.yaml'])
      .file(`${file}.d/a.yaml`, 'container-runtime-endpoint: unix:///run/docker.sock');
    expect(await collect(maker)).toMatchObject({
      root: '/data',
      rootOrigin: file,
      readOnlyPort: 10255,
      runtimeSocket: '/run/docker.sock',
    });
    const denied = maker.set('file', { path: file }, { failure: 'denied' });
    expect((await failureOf(denied)).failure).toBe('denied');
  });

  test('kubelite of microk8s, with variables', async () => {
    const path = '/var/snap/microk8s/5891/args/kubelet';
    const root = '/var/snap/microk8s/common/var/lib/kubelet';
    const words = ['/snap/microk8s/5891/kubelite', `--kubelet-args-file=${path}`];
    const maker = nodeWith({ comm: 'kubelite', words }, root).file(
      `${VIEW}${path}`,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a snap variable.
      '# why\n--root-dir=${SNAP_COMMON}/var/lib/kubelet\n--read-only-port=0\n',
    );
    expect(await collect(maker)).toMatchObject({ program: 'kubelite', root, readOnlyPort: 0 });
  });
});

describe('edgecore', () => {
  const file = `${VIEW}/etc/kubeedge/config/edgecore.yaml`;
  const edgecore = (root: string) => nodeWith({ comm: 'edgecore' }, root);

  test('is configured by its file only', async () => {
    const text = `
apiVersion: edgecore.config.kubeedge.io/v1alpha2
modules:
  edged:
    rootDirectory: /data/edged
    hostnameOverride: edge-1
    remoteRuntimeEndpoint: unix:///run/old.sock
    tailoredKubeletConfig: { address: 127.0.0.1, containerRuntimeEndpoint: unix:///run/new.sock }
`;
    expect(await collect(edgecore('/data/edged').file(file, text))).toMatchObject({
      program: 'edgecore',
      root: '/data/edged',
      rootOrigin: file,
      runtimeSocket: '/run/new.sock',
      readOnlyPort: 10350,
      securePort: 0,
      nodeName: 'edge-1',
    });
  });

  test('has no known root if its file cannot be read, unless the user names it', async () => {
    const maker = edgecore('/data').set('file', { path: file }, { failure: 'denied' });
    expect((await failureOf(maker)).failure).toBe('denied');
    const found = await collect(maker, { kubeletRoot: '/data' });
    expect(found).toMatchObject({ root: '/data', unknowns: [`${file}: permission denied`] });
  });

  test('has the default root that contains pods, and none if both do', async () => {
    const maker = edgecore('/var/lib/edged/pods').file(file, 'modules: {edged: {enable: true}}');
    maker.missing('status', `${VIEW}/var/lib/kubelet/pods`);
    expect((await collect(maker)).root).toBe('/var/lib/edged');
    makeFolder(maker, VIEW, '/var/lib/kubelet/pods');
    expect((await failureOf(maker)).message).toContain('--kubelet-root');
  });
});

describe('without a kubelet', () => {
  const idle = () => makeProc(new NodeMaker(), []);
  const usual = ['/var/lib', '/var/snap', '/opt'];

  test('the node has a stopped one if a default root exists', async () => {
    const maker = idle().missing('status', '/var/lib/kubelet').missing('status', '/var/snap');
    makeFolder(maker, '', '/var/lib/k0s/kubelet');
    expect(await collect(maker)).toMatchObject({
      presence: 'stopped',
      root: '/var/lib/k0s/kubelet',
      rootOrigin: 'default',
      nodeName: 'worker-7',
    });
  });

  test('the node has none if no default root exists', async () => {
    const maker = makeFolder(idle(), '', '/var');
    for (const path of usual) maker.missing('status', path);
    expect(await collect(maker)).toMatchObject({ presence: 'absent', rejected: [] });
  });

  test('a default root that hangs is an error', async () => {
    const maker = idle().set('status', { path: '/var' }, { failure: 'timeout' });
    expect((await failureOf(maker)).failure).toBe('timeout');
  });

  test('a root that the user names must exist', async () => {
    const maker = makeFolder(idle(), '', '/data').missing('status', '/none');
    expect((await collect(maker, { kubeletRoot: '/data' })).presence).toBe('stopped');
    expect((await failureOf(maker, { kubeletRoot: '/none' })).failure).toBe('missing');
  });
});
