import { expect, test } from 'vitest';
import { SyntheticRepair } from '../../../test/synthetic-repair.ts';
import {
  POD_UID,
  type SyntheticContainer,
  type SyntheticWorker,
  syntheticWorker,
} from '../../../test/synthetic-worker.ts';
import { takeSnapshot } from '../checkup/take-snapshot.ts';
import { staticPods } from '../evidence/pods/static-pods.ts';
import type { Action } from '../model/action.ts';
import type { Snapshot } from '../model/evidence.ts';
import { ReadError } from '../model/node-reader.ts';
import { perform, type Step } from './perform.ts';
import { removeContainer } from './remove-container.ts';

const SOCKET = '/run/containerd/containerd.sock';
const ID = 'f1'.padEnd(64, 'c');
const SANDBOX = '7'.repeat(64);
const POD_FOLDER = `/proc/812/root/var/lib/kubelet/pods/${POD_UID}`;

const ACTION: Action<'remove-container'> = {
  kind: 'remove-container',
  ...{ socket: SOCKET, container: ID, sandbox: SANDBOX },
  ...{ createdAt: '1779990000000000000', name: 'mqtt' },
};
const broker: SyntheticContainer = {
  ...{ id: 'f1', name: 'mqtt', state: 'CONTAINER_EXITED', isUnmanaged: true, logPath: '' },
  ...{ sandboxId: SANDBOX, labels: { 'io.kubeedge.edgecore/mqtt': 'mqtt' } },
};
const ours: SyntheticContainer = { id: 'a1', name: 'app', state: 'CONTAINER_RUNNING' };
const POD = {
  metadata: { name: 'web-0', namespace: 'default', uid: POD_UID },
  spec: {},
  status: {},
};

interface Change extends Partial<SyntheticWorker> {
  readonly hasPodFolder?: boolean;
  /** The kubelet asks for credentials. */
  readonly isSilent?: boolean;
}

/** A repair with a runtime that obeys; `change` makes the node differ from the diagnosed one. */
function made(change: Change = {}) {
  const { hasPodFolder, isSilent, ...worker } = change;
  const repair = new SyntheticRepair();
  const isGone = (id: string) =>
    repair.result.state === 'did' && repair.log.includes(`remove container ${id}`);
  const snapshot = () => {
    const whole = {
      ...{ mounts: [], containers: [ours, broker], version: 'v1.34.1' },
      ...(isSilent ? {} : { pods: [POD] }),
      sandboxes: [{}, { id: SANDBOX, podUid: '', podName: 'mqtt', podNamespace: '' }],
      ...worker,
    };
    const containers = whole.containers.filter(({ id }) => !isGone(id.padEnd(64, 'c')));
    const maker = syntheticWorker({ ...whole, containers }).folder('/proc/812/cwd', []);
    const folder = { type: 'folder', mode: 0o755, owner: 0, device: '254:1', inode: '9' } as const;
    const answer = { ...folder, links: 2, sizeBytes: 0, modifiedMs: 0 };
    if (hasPodFolder) maker.set('status', { path: POD_FOLDER }, { answer });
    else maker.missing('status', POD_FOLDER);
    return takeSnapshot(maker.build());
  };
  const permitted = new Set(['remove-container'] as const);
  return { made: repair, repair: { ...repair.repair, snapshot, permitted } };
}

async function outcomeOf(around: ReturnType<typeof made>, action: Action = ACTION) {
  const intent = { action, fault: 'container-without-log-path', finding: '3f9a1c' };
  return (await perform(intent, around.repair)).outcome;
}

async function objectionTo(around: ReturnType<typeof made>, action: Action = ACTION) {
  const outcome = await outcomeOf(around, action);
  expect(around.made.log).toEqual([]);
  if (outcome.state !== 'refused') throw new Error(`not refused: ${JSON.stringify(outcome)}`);
  for (const part of [outcome.what, outcome.why, outcome.todo]) expect(part).not.toBe('');
  return outcome;
}

test('removes the container in one call, then its sandbox', async () => {
  const around = made();
  const path = '/var/lib/kubediag/saved/container-f1ccccccccccc.json';
  expect(await outcomeOf(around)).toEqual({
    state: 'done',
    note: `what the runtime knew of it is saved in ${path}, with what is secret in it`,
  });
  const actions = [`remove container ${ID}`, `remove sandbox ${SANDBOX}`];
  const stored = 'keep container-f1ccccccccccc.json';
  expect(around.made.log).toEqual(['intend', stored, ...actions, 'done']);
});

test.each([
  ['was started', { state: 'CONTAINER_RUNNING' }, 'runs, and --yes alone does not remove it'],
  ['is another one', { name: 'web' }, 'the container is another one than was diagnosed'],
] as const)('a container that %s since the second check stays', async (_, change, what) => {
  const around = made();
  const { snapshot } = made({ containers: [ours, { ...broker, ...change }] }).repair;
  const onStep = ({ name }: Step) => {
    if (name === 'intent written') around.repair.snapshot = snapshot;
  };
  const repair = { ...around.repair, snapshot: () => around.repair.snapshot(), onStep };
  const intent = { action: ACTION, fault: 'container-without-log-path', finding: '3f9a1c' };
  const { outcome } = await perform(intent, repair);
  expect(outcome).toMatchObject({ state: 'refused', what: expect.stringContaining(what) });
  expect(around.made.log).toEqual(['intend', 'keep container-f1ccccccccccc.json', 'refused']);
});

test('saves all that the runtime knows of it before it removes anything, or removes nothing', async () => {
  const around = made();
  const { snapshot } = around.repair;
  const asked = { socket: SOCKET, call: 'ContainerStatus', id: ID, verbose: true } as const;
  const settings = { envs: [{ key: 'PASSWORD', value: 'hunter2' }], args: ['-phunter2'] };
  const message = { status: { id: ID, logPath: '' }, info: { info: JSON.stringify({ settings }) } };
  const answered = (answer: 'inspected' | 'silent') => () => {
    const { node, ...rest } = snapshot();
    const ask: typeof node.ask = async (kind, question) => {
      if (JSON.stringify(question) !== JSON.stringify(asked)) return node.ask(kind, question);
      if (answer === 'silent') throw new ReadError('timeout', 'CRI ContainerStatus');
      return { criVersion: 'v1', message } as Awaited<ReturnType<typeof node.ask<typeof kind>>>;
    };
    return { ...rest, node: { ...node, now: () => node.now(), ask } };
  };
  const intent = { action: ACTION, fault: 'container-without-log-path', finding: '3f9a1c' };
  const silent = await perform(intent, { ...around.repair, snapshot: answered('silent') });
  expect(silent.outcome).toMatchObject({ state: 'failed' });
  expect(JSON.stringify(silent.outcome)).toContain('could not be saved, so it was not removed');
  expect(around.made.log.join()).not.toContain('remove');
  await perform(intent, { ...around.repair, snapshot: answered('inspected') });
  const [text = ''] = around.made.stored;
  expect(JSON.parse(text)).toMatchObject({
    container: { status: message.status, info: { info: { settings } } },
    sandbox: { status: { id: SANDBOX } },
  });
});

test('a container that is gone already needs nothing', async () => {
  const around = made({ containers: [ours] });
  expect(await outcomeOf(around)).toMatchObject({ state: 'done' });
  expect(around.made.log).toEqual([]);
});

test('leaves a sandbox in which something else lives, and reports what is still dangerous', async () => {
  const around = made({ containers: [broker, { ...broker, id: 'f2', name: 'other' }] });
  const outcome = await outcomeOf(around);
  expect(outcome).toMatchObject({ state: 'done', note: expect.stringContaining('f2ccccccccccc') });
  expect(around.made.log).not.toContain(`remove sandbox ${SANDBOX}`);
});

test.each([
  ['another creation time', { createdAt: '1' }],
  ['another sandbox', { sandboxId: '8'.repeat(64) }],
  ['another name', { name: 'mqtt-2' }],
])('refuses a container with %s than was diagnosed', async (_, change) => {
  const { what } = await objectionTo(made({ containers: [ours, { ...broker, ...change }] }));
  expect(what).toBe('the container is another one than was diagnosed');
});

test('refuses at another runtime, and a container that has a log path now', async () => {
  const other = await objectionTo(made(), { ...ACTION, socket: '/run/other.sock' });
  expect(other.what).toBe('this is another runtime');
  const logged = { ...broker, logPath: '/var/log/pods/a_b_c/mqtt/0.log' };
  const { why } = await objectionTo(made({ containers: [ours, logged] }));
  expect(why).toContain('absolute log path');
});

test('refuses what belongs to a pod that the kubelet lists', async () => {
  const containers = [ours, { ...broker, labels: { 'io.kubernetes.pod.uid': POD_UID } }];
  const { what, why, manual } = await objectionTo(made({ containers }));
  expect(what).toBe('the container belongs to a pod of the kubelet');
  expect(why).toContain(`lists pod ${POD_UID}`);
  // To do manually what is refused would do the same harm.
  expect(manual).toBeUndefined();
});

test('believes a silent kubelet by the directories of its pods', async () => {
  const labels = { 'io.kubernetes.pod.uid': POD_UID };
  const containers = [ours, { ...broker, labels }];
  const known = made({ containers, isSilent: true, hasPodFolder: true });
  expect((await objectionTo(known)).why).toContain('cannot be asked, and has a directory');
  const unknown = made({ containers, isSilent: true });
  expect(await outcomeOf(unknown)).toMatchObject({ state: 'done' });
});

test('trusts no list that is not whole, and knows a static pod by its file', async () => {
  const labels = { 'io.kubernetes.pod.uid': POD_UID };
  const containers = [ours, { ...broker, labels }];
  const empty = made({ containers, pods: [], hasPodFolder: true });
  expect((await objectionTo(empty)).why).toContain('lists no pod of the API server (yet)');
  const annotations = { 'kubernetes.io/config.source': 'api' };
  const other = { metadata: { name: 'b', uid: 'other', annotations }, spec: {}, status: {} };
  const whole = made({ containers, pods: [other], hasPodFolder: true });
  expect(await outcomeOf(whole)).toMatchObject({ state: 'done' });

  const around = made({ containers, pods: [other] });
  const { snapshot } = around.repair;
  const files = {
    uids: new Set([POD_UID]),
    isNone: false,
    claim: '',
    origin: { file: '/etc/manifests' },
  };
  const withFiles = () => {
    const seen = snapshot();
    const of: Snapshot['of'] = (evidence) =>
      (evidence as unknown) === staticPods ? (Promise.resolve(files) as never) : seen.of(evidence);
    return { ...seen, of };
  };
  const refused = await objectionTo({
    ...around,
    repair: { ...around.repair, snapshot: withFiles },
  });
  expect(refused.why).toContain('a file of a static pod');
});

test('one of which nobody knows whether it runs is treated as one that does', async () => {
  const state = 'CONTAINER_UNKNOWN';
  const strange = made({ containers: [ours, { ...broker, state, labels: {} }] });
  expect((await objectionTo(strange)).what).toContain('may run: the runtime does not know');
  const { what } = await objectionTo(made({ containers: [ours, { ...broker, state }] }));
  expect(what).toContain('--yes alone does not remove it');
});

test('refuses what the kubelet itself made', async () => {
  const theirs = { ...broker, isUnmanaged: false, labels: {} };
  const { why } = await objectionTo(made({ containers: [theirs] }));
  expect(why).toContain('carries the marks of the kubelet');
});

test('one that runs is removed only with its own word, and never when nobody knows its maker', async () => {
  const runs = { ...broker, state: 'CONTAINER_RUNNING' } as const;
  const around = () => made({ containers: [ours, runs] });
  const { what, todo } = await objectionTo(around());
  expect(what).toContain('--yes alone does not remove it');
  expect(todo).toContain(`--confirm ${ID.slice(0, 13)}`);
  await objectionTo(around(), { ...ACTION, confirmed: 'yes' });
  await objectionTo(around(), { ...ACTION, confirmed: '' });
  const confirmed = { ...ACTION, confirmed: ID.slice(0, 13) };
  expect(await outcomeOf(around(), confirmed)).toMatchObject({ state: 'done' });

  const strange = made({ containers: [ours, { ...runs, labels: {} }] });
  expect((await objectionTo(strange, confirmed)).what).toContain('who made it is not known');
});

test('reports what prevents it: no root, a runtime that fails or does not end', async () => {
  const blocked = made();
  blocked.made.blocked = 'only root may do that: run it with sudo';
  expect((await objectionTo(blocked)).why).toContain('only root');
  const failing = made();
  failing.made.result = { state: 'failed', why: 'CRI RemoveContainer: no' };
  expect(await outcomeOf(failing)).toMatchObject({
    state: 'failed',
    why: expect.stringContaining('CRI RemoveContainer: no'),
  });
  const unending = made();
  unending.made.result = { state: 'unending', why: 'CRI RemoveContainer: no answer' };
  expect(await outcomeOf(unending)).toMatchObject({ state: 'failed' });
  expect(unending.made.log).not.toContain(`remove sandbox ${SANDBOX}`);
});

test('killed before the sandbox was removed: the next run removes it, once it is empty', async () => {
  const resumeOn = async (change: Change) => {
    const around = made(change);
    const { writer, snapshot } = around.repair;
    const said = await removeContainer.resume?.(ACTION, writer, snapshot);
    return { log: around.made.log, said };
  };
  expect(await resumeOn({ containers: [ours] })).toEqual({
    log: [`remove sandbox ${SANDBOX}`],
    said: { said: expect.stringContaining('was empty, and is removed now') },
  });
  const nothing = { log: [], said: undefined };
  expect(await resumeOn({})).toEqual(nothing);
  expect(await resumeOn({ containers: [ours], sandboxes: [{}] })).toEqual(nothing);
  const other = { ...broker, id: 'f2', name: 'other' };
  expect(await resumeOn({ containers: [ours, other] })).toEqual(nothing);
  const sandboxes = [{}, { id: SANDBOX, podUid: POD_UID }];
  for (const isSilent of [true, false]) {
    const { log, said } = await resumeOn({ containers: [ours], sandboxes, isSilent });
    expect(log).toEqual([]);
    expect(said?.said).toContain('for the kubelet to collect');
  }
});

test('the manual steps stop the kubelet first, in one line', async () => {
  const repair = made();
  repair.made.blocked = 'no way to the runtime';
  const { manual } = await objectionTo(repair);
  const [stored = '', removed = ''] = manual?.commands ?? [];
  expect(stored).toContain(`inspect ${ID} > `);
  expect(removed).toMatch(
    /^systemctl stop kubelet && crictl .* rm --force \S+ && systemctl start kubelet$/,
  );
  expect(manual?.commands).toHaveLength(2);
});
