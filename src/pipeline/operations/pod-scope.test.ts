import { describe, expect, test } from 'vitest';
import { hostOn } from '../../../test/synthetic-host.ts';
import { nodeWithTwoPods, OTHER, OWN, targetOf } from '../../../test/two-pods.ts';
import type { Action, ActionArguments, ActionKind } from '../../node/model/action.ts';
import type { Finding, Subject } from '../../node/model/finding.ts';
import { type Unknown, verdictOf } from '../../node/model/verdict.ts';
import { resultOfPod, verdictOfPod } from './pod-part.ts';
import { isActionOn, isPathOf, namesOther, type PodScope, podScopeOn } from './pod-scope.ts';

const found = await podScopeOn(hostOn(nodeWithTwoPods().build()), OWN);
if ('why' in found) throw new Error(found.why);
const scope: PodScope = found;

test('the pod is known by its UID and its ids, from the kubelet or from the runtime', async () => {
  expect(scope).toMatchObject({ namespace: OWN.namespace, name: OWN.name, uid: OWN.uid });
  expect([...scope.ids]).toEqual(expect.arrayContaining([OWN.sandbox, OWN.container]));
  for (const knownTo of ['kubelet', 'runtime'] as const) {
    const host = hostOn(nodeWithTwoPods({ knownTo }).build());
    expect(await podScopeOn(host, OWN)).toMatchObject({ uid: OWN.uid });
  }
});

test('refuses a name that two pods have', async () => {
  const own = { ...OWN, namespace: OTHER.namespace, name: OTHER.name };
  for (const knownTo of ['both', 'runtime'] as const) {
    const host = hostOn(nodeWithTwoPods({ own, knownTo }).build());
    expect(await podScopeOn(host, own)).toEqual({ why: 'the node has 2 pods of this name' });
  }
});

test.each([
  ['its own path', targetOf(OWN), false],
  ['the path of another pod', targetOf(OTHER), true],
  ['the path of a pod that the node has forgotten', '/var/lib/kubelet/pods/0f0f/volumes', true],
  ['its own log', `/var/log/pods/shop_web-0_${OWN.uid}/app/0.log`, false],
  ['the log of another pod', `/var/log/pods/bank_vault-7_${OTHER.uid}/app/0.log`, true],
  ['its own name', 'pod="shop/web-0" is not ready', false],
  ['the name of another pod', 'pod="bank/vault-7" is not ready', true],
  ['the name of another pod at an end', 'see bank/vault-7.', true],
  ['a longer name', 'bank/vault-70, bank/vault-7.example', false],
  ['the name of another pod in a log', 'vault-7_bank(…)', true],
  ['the cgroup of another pod', `kubepods-pod${OTHER.uid.replaceAll('-', '_')}.slice`, true],
  ['its own container', `container ${OWN.container}`, false],
  ['the short id of another container', `container ${OTHER.container.slice(0, 13)}`, true],
  ['a container that is gone', `container ${'e'.repeat(64)}`, true],
  ['the digest of an image', `sha256:${'e'.repeat(64)}`, false],
  ['a volume', `${targetOf(OWN)}/pvc-f9e8d7c6-1111-11e8-a05e-246e96748774`, false],
])('whether a text names another pod: %s', (_, text, isOther) => {
  expect(namesOther(text, scope)).toBe(isOther);
});

test.each([
  [targetOf(OWN), true],
  [targetOf(OTHER), false],
  [`/run/containerd/x/${OWN.container}/rootfs`, true],
  [`/run/containerd/x/${OTHER.container}/rootfs`, false],
  // The name of a volume is its pod's choice.
  [`/var/lib/kubelet/pods/${OTHER.uid}/volumes/x/pods/${OWN.uid}`, false],
  ['/var/lib/kubelet', false],
  ['/run/netns/cni-1', false],
])('whether a path is of the pod: %s', (path, isOwn) => {
  expect(isPathOf(path, scope)).toBe(isOwn);
});

describe('every kind of action is refused on another pod', () => {
  const mount = { id: 1, parent: 1, device: '0:1', root: '/' };
  const actions: { readonly [K in ActionKind]: (pod: typeof OWN) => ActionArguments[K] } = {
    unmount: (pod) => ({ ...mount, target: targetOf(pod) }),
    'force-unmount': (pod) => ({
      ...{ ...mount, target: targetOf(pod), fsType: 'nfs', podUid: pod.uid },
    }),
    'set-aside': ({ uid }) => ({ podUid: uid, volume: 'v', inode: '1' }),
    'remove-empty-directory': ({ uid }) => ({ podUid: uid, plugin: 'p', leftovers: [] }),
    'remove-container': ({ container, sandbox }) => ({
      ...{ socket: '', container, sandbox, createdAt: '1', name: 'app' },
    }),
    'restore-symlink': () => ({ path: '/bin', target: 'usr/bin' }),
  };
  test.each(Object.keys(actions) as ActionKind[])('%s', (kind) => {
    const on = (pod: typeof OWN) => ({ kind, ...actions[kind](pod) }) as Action;
    expect(isActionOn(on(OTHER), scope)).toBe(false);
    // The root of the node is of no pod.
    expect(isActionOn(on(OWN), scope)).toBe(kind !== 'restore-symlink');
  });

  test('a mixture of both', () => {
    const sandbox = { ...OWN, sandbox: OTHER.sandbox };
    const removal = { kind: 'remove-container', ...actions['remove-container'](sandbox) } as const;
    expect(isActionOn(removal, scope)).toBe(false);
    const unmount = { ...actions['force-unmount'](OTHER), podUid: OWN.uid };
    expect(isActionOn({ kind: 'force-unmount', ...unmount }, scope)).toBe(false);
  });
});

const finding = (subject: Subject, line: string): Finding => ({
  ...{ state: 'active', reason: 'Reason', summary: `summary: ${line}`, subject, pins: {} },
  proof: [
    { claim: 'own', origin: { source: 'own' } },
    { claim: 'line', text: line, origin: { source: 'log' } },
    { claim: 'place', origin: { file: `/var/log/pods/bank_vault-7_${OTHER.uid}/app/0.log` } },
  ],
  ...{ blastRadius: line, excluded: ['x', line], alternatives: [{ command: line }] },
});

test('a verdict has only findings of the pod, and no text in them names another one', () => {
  const line = `unmount of ${targetOf(OTHER)} failed`;
  const unknowns: Unknown[] = [
    { why: `${targetOf(OTHER)}: timeout`, failure: 'timeout' },
    { why: 'kubelet log: denied', failure: 'denied' },
    { why: 'suspected: process 4812 (vault) holds it' },
    { why: 'of the other', subject: { podUid: OTHER.uid } },
    { why: 'of the pod', subject: { podUid: OWN.uid } },
  ];
  const verdict = verdictOf({
    unknowns,
    findings: [
      finding({ podUid: OTHER.uid, namespace: OWN.namespace, pod: OWN.name }, 'other'),
      finding({}, 'of the node'),
      finding({ podUid: OWN.uid, mount: targetOf(OTHER) }, line),
    ],
  });
  const { findings, unknowns: left } = verdictOfPod(verdict, scope);
  const withheld = 'withheld: it names another pod';
  const hidden = { claim: withheld, origin: { source: 'this node' } };
  expect(findings).toEqual([
    {
      ...{ state: 'active', reason: 'Reason', summary: withheld, pins: {} },
      subject: { podUid: OWN.uid, mount: withheld },
      proof: [{ claim: 'own', origin: { source: 'own' } }, hidden, hidden],
      ...{ blastRadius: withheld, excluded: ['x'], alternatives: [] },
    },
  ]);
  expect(left.map(({ why }) => why)).toEqual([
    expect.stringContaining('not part of this pod could not be determined'),
    'kubelet log: denied',
    'of the pod',
  ]);
});

test('what could not be determined on the node never makes a pod clear', () => {
  const unknowns = [{ why: `${targetOf(OTHER)}: timeout` }];
  expect(verdictOfPod(verdictOf({ findings: [], unknowns }), scope).state).toBe('unknown');
});

test('neither the message of a step nor what it did names another pod', () => {
  const message = `an earlier action is not settled: unmount ${targetOf(OTHER)}`;
  const actions = [{ kind: 'unmount', description: `unmount ${targetOf(OWN)}`, message }];
  const shown = resultOfPod({ succeeded: false, message, record: { actions } }, scope);
  expect(JSON.stringify(shown)).not.toContain(OTHER.uid);
  expect(shown.record?.actions?.[0]?.description).toBe(`unmount ${targetOf(OWN)}`);
});
