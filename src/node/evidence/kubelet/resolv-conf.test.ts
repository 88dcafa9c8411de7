import { expect, test } from 'vitest';
import { makeFolder, makeProc, makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { redactionRules } from '../../faults/index.ts';
import { redactAnswer } from '../../redaction/redact.ts';
import { resolvConf } from './resolv-conf.ts';

const VIEW = '/proc/812/root';
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
])('a bundle has as many servers and domains of %s', async (path) => {
  const words = ['kubelet', `--resolv-conf=${path}`];
  const found = await collect(nodeWith(words).file(`${VIEW}${path}`, inBundle(path, TEXT)));
  expect(found).toMatchObject({ nameservers: ['192.0.2.1'], searches: ['xxxxxxxxx', 'xxxxxxxxx'] });
});

test.each([
  ['a text', TEXT],
  ['one that is no YAML', 'nameserver 10.0.0.1\nsearch: [a\n'],
])('a bundle that withholds the file does not show an empty one: %s', async (_, text) => {
  const path = '/etc/kubernetes/pod-dns';
  const maker = nodeWith(['kubelet', `--resolv-conf=${path}`]);
  const withheld = collect(maker.file(`${VIEW}${path}`, inBundle(path, text)));
  await expect(withheld).rejects.toMatchObject({ failure: 'malformed' });
});

test.each(['/etc/kubelet.conf.d/10-resolv.conf', '/etc/kubelet-resolv.yaml'])(
  'a configuration of the kubelet is none: %s',
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
