import { expect, test } from 'vitest';
import { makeFolder, makeProc, makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { syntheticWorker } from '../../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { redactionRules } from '../../faults/index.ts';
import { redactAnswer } from '../../redaction/redact.ts';
import { resolvConf } from './resolv-conf.ts';

const VIEW = '/proc/812/root';
const DEFAULT = '/etc/resolv.conf';
const RESOLVED = '/run/systemd/resolve/resolv.conf';
const TEXT = 'nameserver 10.0.0.1\nsearch a.example b.example\n';

function nodeWith(words: readonly string[], comm = 'kubelet'): NodeMaker {
  const maker = makeProc(new NodeMaker(), [812]);
  makeProcess(maker, { comm, words });
  return makeFolder(maker, VIEW, '/var/lib/kubelet');
}

const collect = (maker: NodeMaker) => takeSnapshot(maker.build(), {}).of(resolvConf);

function inBundle(path: string, text: string): string {
  return redactAnswer('file', { path: `${VIEW}${path}` }, text, redactionRules);
}

test.each([
  '/etc/resolv.conf',
  '/run/systemd/resolve/stub-resolv.conf',
  '/etc/k3s-resolv.conf',
  '/etc/resolvconf/run/pods.resolv',
])('a bundle has the same number of servers and domains of %s', async (path) => {
  const words = ['kubelet', `--resolv-conf=${path}`];
  const found = await collect(nodeWith(words).file(`${VIEW}${path}`, inBundle(path, TEXT)));
  expect(found).toMatchObject({ nameservers: ['192.0.2.1'], searches: ['xxxxxxxxx', 'xxxxxxxxx'] });
});

test.each([
  ['a text', TEXT],
  ['one that is no YAML', 'nameserver 10.0.0.1\nsearch: [a\n'],
])('a file that the bundle withholds is not an empty file: %s', async (_, text) => {
  const path = '/etc/kubernetes/pod-dns';
  const maker = nodeWith(['kubelet', `--resolv-conf=${path}`]);
  const withheld = collect(maker.file(`${VIEW}${path}`, inBundle(path, text)));
  await expect(withheld).rejects.toMatchObject({ failure: 'malformed' });
});

test.each(['/etc/kubelet.conf.d/10-resolv.conf', '/etc/kubelet-resolv.yaml'])(
  'a kubelet configuration is not a resolv.conf: %s',
  (path) => {
    expect(JSON.parse(inBundle(path, 'readOnlyPort: 10255'))).toEqual({ readOnlyPort: 10255 });
  },
);

test('the cluster domain may be set in a file that could not be read', async () => {
  const path = '/etc/resolv.conf';
  const words = ['kubelet', '--config=/etc/kubelet.yaml', `--resolv-conf=${path}`];
  const maker = nodeWith(words).file(`${VIEW}${path}`, TEXT);
  maker.set('file', { path: `${VIEW}/etc/kubelet.yaml` }, { failure: 'denied' });
  const { limits, why } = await collect(maker);
  const domains = limits.map((one) => one.domains);
  expect(domains).toEqual(expect.arrayContaining([29, 32]));
  expect(why).toContain('kubelet.yaml');
});

const CONFIG = `${VIEW}/etc/rancher/k3s/config.yaml`;
const k3s = (...flags: readonly string[]) =>
  nodeWith(['k3s', 'agent', ...flags], 'k3s-agent').missing('folder', `${CONFIG}.d`);

test('k3s always has a cluster domain', async () => {
  const maker = k3s().missing('file', CONFIG).file(`${VIEW}/etc/resolv.conf`, TEXT);
  const { limits } = await collect(maker);
  expect(limits.map((one) => one.domains)).not.toContain(32);
});

test.each([
  ['its command line', ['--resolv-conf=/etc/pods'], '', '/etc/pods'],
  ['its file', [], 'resolv-conf: /etc/pods', '/etc/pods'],
  ['its file in a bundle', [], inBundle('/etc/a', 'resolv-conf: /etc/pods'), '/etc/pods'],
  ['an empty value', ['--resolv-conf='], '', '/etc/resolv.conf'],
  [
    'an argument for the kubelet',
    ['--resolv-conf=/etc/resolv.conf', '--kubelet-arg=resolv-conf=/etc/pods'],
    '',
    '/etc/pods',
  ],
])('k3s takes its resolv.conf from %s', async (_, flags, config, path) => {
  const maker = k3s(...flags).file(CONFIG, config);
  maker.file(`${VIEW}/etc/resolv.conf`, TEXT);
  // A file that the user sets is used as it is, even if pods cannot reach its servers.
  maker.file(`${VIEW}/etc/pods`, 'nameserver 127.0.0.53\n');
  expect((await collect(maker)).path).toBe(path);
});

test.each([
  ['the first file with a server that pods reach', '127.0.0.53', '10.0.0.2', RESOLVED],
  ['none if pods reach no server', '127.0.0.53', '::1', ''],
  ['its default, though one server is local', '127.0.0.1\nnameserver 10.0.0.1', '::1', DEFAULT],
])('k3s that was given no resolv.conf takes %s', async (_, first, second, path) => {
  const maker = k3s().missing('file', CONFIG);
  maker.file(`${VIEW}${DEFAULT}`, `nameserver ${first}\n`);
  maker.file(`${VIEW}${RESOLVED}`, `nameserver ${second}\n`);
  const found = await collect(maker);
  expect(found.path).toBe(path);
  if (path === '') expect(found).toMatchObject({ nameservers: [], searches: [] });
});

test('a kubelet takes its default file, also with servers that pods cannot reach', async () => {
  const maker = nodeWith(['kubelet']).file(`${VIEW}${DEFAULT}`, 'nameserver 127.0.0.53\n');
  expect(await collect(maker)).toMatchObject({
    path: DEFAULT,
    origin: { file: `${VIEW}${DEFAULT}` },
    nameservers: ['127.0.0.53'],
  });
});

test('a kubelet whose resolv.conf is empty by its settings gives pods none', async () => {
  const found = await collect(nodeWith(['kubelet', '--resolv-conf=']));
  expect(found).toMatchObject({ path: '', nameservers: [], searches: [] });
});

test('servers add up, the last search line counts, and a dot at its end does not', async () => {
  const lines = ['nameserver\t10.0.0.1', '  nameserver 10.0.0.2  ', 'nameserver', '# nameserver x'];
  const text = [...lines, 'search old.example', 'search a.example. b.example', ''].join('\n');
  expect(await collect(nodeWith(['kubelet']).file(`${VIEW}${DEFAULT}`, text))).toMatchObject({
    nameservers: ['10.0.0.1', '10.0.0.2'],
    searches: ['a.example', 'b.example'],
  });
  const none = await collect(nodeWith(['kubelet']).file(`${VIEW}${DEFAULT}`, 'options ndots:5\n'));
  expect(none).toMatchObject({ nameservers: [], searches: [] });
});

test('a setting that cannot be read may name another file', async () => {
  const maker = nodeWith(['kubelet', '--config=/etc/kubelet.yaml']).file(`${VIEW}${DEFAULT}`, TEXT);
  maker.set('file', { path: `${VIEW}/etc/kubelet.yaml` }, { failure: 'denied' });
  await expect(collect(maker)).rejects.toMatchObject({ failure: 'failed' });
});

test('without a kubelet there is no resolv.conf', async () => {
  const maker = makeFolder(makeProc(new NodeMaker(), []), '', '/var/lib/kubelet');
  await expect(collect(maker)).rejects.toMatchObject({ failure: 'missing' });
});

const OLD = { domains: 6, characters: 256 };
const EXPANDED = { domains: 32, characters: 2048 };

test.each([
  ['v1.21.14', [OLD]],
  ['v1.22.0', [OLD, EXPANDED]],
  ['v1.25.16', [OLD, EXPANDED]],
  ['v1.26.0', [EXPANDED]],
  [null, [OLD, EXPANDED]],
])('a kubelet of version %s has these limits', async (version, limits) => {
  const { why, limitsOrigin, ...found } = await collect(syntheticWorker({ version }));
  expect(found.limits).toEqual(limits);
  expect(why).toContain(version === null ? 'version' : 'ExpandedDNSConfig');
  expect('url' in limitsOrigin).toBe(version !== null);
});

test('the domains of the cluster take three places of the search line', async () => {
  const flags = ['--cluster-domain=cluster.local'];
  const { limits } = await collect(syntheticWorker({ version: 'v1.25.16', flags }));
  expect(limits).toEqual([
    { ...OLD, domains: 3 },
    { ...EXPANDED, domains: 29 },
  ]);
});

test('a bundle shows which servers are local, and no other address', () => {
  const text = 'nameserver 127.0.0.53\nnameserver ::1\nnameserver 10.127.0.1\n';
  expect(inBundle(DEFAULT, text)).toBe(
    'nameserver 127.0.0.53\nnameserver ::1\nnameserver 192.0.2.1\nsearch\n',
  );
});
