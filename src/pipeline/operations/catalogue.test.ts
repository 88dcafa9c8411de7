import { expect, test } from 'vitest';
import { answerOn, fixtureAt } from '../../../test/fault-fixtures.ts';
import { ORPHAN } from '../../../test/faults/orphaned-volume-metadata.ts';
import { hostOn } from '../../../test/synthetic-host.ts';
import { NodeMaker } from '../../../test/synthetic-node.ts';
import { staleSubpathMount } from '../../node/faults/stale-subpath-mount/fault.ts';
import type { NodeReader } from '../../node/model/node-reader.ts';
import { RecordedNode } from '../../node/recording/recorded-node.ts';
import type { Intent, JournalRecord } from '../../node/repair/journal.ts';
import type { Consent } from '../../node/repair/recover.ts';
import { processors } from './catalogue.ts';

function run(name: string, input: Readonly<Record<string, string>>, host = hostOn(silent)) {
  const processor = processors.find(({ path }) => path === `/processor/${name}`);
  if (!processor) throw new Error(`no processor ${name}`);
  return processor.run(input, host);
}

/** It answers no question. */
const silent = new NodeMaker().build();
const POD = JSON.stringify({ metadata: { namespace: 'shop', name: 'web-0' } });
const COLLECTED = {
  'collector.kubernetes.pod.detail': POD,
  'collector.system.mountinfo': '1 1 0:1 / / rw - ext4 /dev/vda rw\n',
};
const TARGET = 'diagnoser.kubernetes.subpath_remount.original_destination_path';
test.each(processors.map(({ path }) => path.replace('/processor/', '')))(
  '%s answers a step without input, on a node without answers',
  async (name) => {
    const result = await run(name, {});
    expect(result).toMatchObject({ succeeded: false, message: expect.stringMatching(/./) });
  },
);

test.each([
  ['podDetailCollector', { 'pod.name': 'a' }, 'no pod is named'],
  ['subpathRemountDiagnoser', {}, 'this step needs collector.kubernetes.pod.detail'],
  [
    'subpathRemountDiagnoser',
    { 'collector.kubernetes.pod.detail': POD },
    'this step needs collector.system.mountinfo',
  ],
  [
    'subpathRemountDiagnoser',
    { ...COLLECTED, 'collector.kubernetes.pod.detail': '{' },
    'is no pod with a name',
  ],
  ['subpathRemountRecover', {}, `this step needs ${TARGET}`],
])('%s says what is missing', async (name, input, words) => {
  expect(await run(name, input)).toHaveProperty('message', expect.stringContaining(words));
});

test('what is not known is neither diagnosed nor acted on', async () => {
  expect(await run('subpathRemountDiagnoser', COLLECTED)).toEqual({
    succeeded: false,
    message: expect.stringMatching(
      /^pod shop\/web-0: it is not known: no pod shop\/web-0 was seen/,
    ),
    reason: 'Unknown',
  });
  const recover = await run('subpathRemountRecover', { [TARGET]: '--lazy /' });
  expect(recover).toHaveProperty(
    'message',
    expect.stringMatching(/^refused: a new check does not/),
  );
});

test('the mount table is handed on as it is', async () => {
  const text = '1 1 0:1 / / rw - ext4 /dev/vda rw\n';
  const node = new NodeMaker().file('/proc/1/mountinfo', text).build();
  const result = await run('mountInfoCollector', {}, hostOn(node));
  expect(result).toEqual({ succeeded: true, results: { 'collector.system.mountinfo': text } });
});

test('a processor names each missing input by the key in the catalogue', async () => {
  for (const { path, reads } of processors) {
    const [key] = reads;
    if (key === undefined || key.startsWith('pod.')) continue;
    const result = await run(path.replace('/processor/', ''), {});
    expect(result).toHaveProperty('message', expect.stringContaining(`needs ${key}`));
  }
});

test('what an earlier attempt has unmounted is what was wanted, though no look finds it now', async () => {
  const target = '/var/lib/kubelet/pods/6f1c2a9e/volume-subpaths/settings/web/1';
  const done = [
    {
      entry: 1,
      at: '2026-01-02T03:04:05Z',
      event: 'concluded',
      boot: 'b1',
      by: { pid: 812, user: 'ada' },
      fault: 'stale-subpath-mount',
      finding: '3f9a1c',
      action: { kind: 'unmount', id: 216, parent: 22, device: '254:1', root: '/a', target },
      outcome: { state: 'done' },
    },
  ] as const;
  const clear = await nodeAt('stale-subpath-mount/healthy-without-credentials');
  const after = hostOn(clear, { earlierActions: async () => ({ isKnown: true, done }) });
  expect(await run('subpathRemountRecover', { [TARGET]: target }, after)).toEqual({
    succeeded: true,
    results: {
      'recover.kubernetes.subpath_remount.result': `Succeesfully umount ${target} on host`,
    },
    record: {
      actions: [
        {
          kind: 'unmount',
          fault: 'stale-subpath-mount',
          finding: '3f9a1c',
          description: `unmount ${target}`,
          details: ['mount 216 of the kubelet, on device 254:1, whose source is gone'],
          state: 'done',
          endTime: '2026-01-02T03:04:05Z',
          journalEntry: 1,
        },
      ],
    },
  });
  const findings = 'diagnoser.kubernetes.stale_subpath_mount.findings';
  const byId = { [findings]: '[{"id":"3f9a1c"}]' };
  expect(await run('staleSubpathMountRecover', byId, after)).toMatchObject({
    succeeded: true,
    record: { actions: [{ kind: 'unmount', state: 'done' }] },
  });
  // Another target, or nobody knows yet what became of it: that is no success.
  const other = await run('subpathRemountRecover', { [TARGET]: `${target}0` }, after);
  expect(other.succeeded).toBe(false);
  const unknown = hostOn(clear, {
    earlierActions: async () => ({ isKnown: false, why: 'an umount still runs' }),
  });
  for (const [name, input] of [
    ['subpathRemountRecover', { [TARGET]: target }],
    ['staleSubpathMountRecover', byId],
  ] as const) {
    expect(await run(name, input, unknown)).toMatchObject({
      message: expect.stringContaining(
        'it cannot be seen yet what became of it: an umount still runs',
      ),
      reason: 'Refused',
    });
  }
});

test('a container that still runs, or is of another pod, is not touched by the name of its mount', async () => {
  const recoverOn = async (path: string, input: Readonly<Record<string, string>> = {}) => {
    const [finding] = (await answerOn(staleSubpathMount, await fixtureAt(path))).findings;
    const target = finding?.subject.mount ?? '';
    const consent = async () => ({ given: 'to-plan' }) as const;
    const host = hostOn(await nodeAt(path), { consent });
    return run('subpathRemountRecover', { ...input, [TARGET]: target }, host);
  };
  const refused = {
    succeeded: false,
    message: expect.stringMatching(/^refused: a new check does not find/),
  };
  const active = 'stale-subpath-mount/broken-configmap';
  expect(await recoverOn(active)).toMatchObject({ succeeded: true });
  expect(await recoverOn('stale-subpath-mount/latent-running')).toMatchObject(refused);
  const other = { 'pod.namespace': 'default', 'pod.name': 'web-1' };
  expect(await recoverOn(active, other)).toMatchObject(refused);
});

test('a recovery that broke off between two actions is finished, as far as it may be', async () => {
  const restore = { kind: 'restore-symlink', path: '/bin', target: 'usr/bin' } as const;
  const remove = {
    kind: 'remove-container',
    ...{ socket: '/s', container: 'c', sandbox: 's', createdAt: '1', name: 'mqtt' },
  } as const;
  const record = (entry: number, action: object, rest?: readonly object[]) =>
    ({
      ...{ entry, at: '2026-01-02T03:04:05Z', event: 'concluded', boot: 'b1' },
      ...{ by: { pid: 812, user: 'ada' }, outcome: { state: 'done' } },
      ...{ fault: 'container-without-log-path', finding: 'e8c4d8', action, rest },
    }) as unknown as JournalRecord;
  const intents: Intent[] = [];
  const clear = await nodeAt('container-without-log-path/healthy');
  const attempt = (done: readonly JournalRecord[], consent: Consent) => {
    const host = hostOn(clear, {
      saveEvidence: async () => ({ path: '/bundle' }),
      consent: async ({ actions }) => {
        expect(actions).toEqual([remove, restore]);
        return consent;
      },
      openRepair: async () => ({
        isOpen: true,
        settled: [],
        close: () => {},
        perform: async (intent) => {
          intents.push(intent);
          return { outcome: { state: 'done' }, entry: 2 };
        },
      }),
      earlierActions: async () => ({ isKnown: true, done }),
      purpose: 'u/2',
    });
    const findings = 'diagnoser.kubernetes.container_without_log_path.findings';
    return run('containerWithoutLogPathRecover', { [findings]: '[{"id":"e8c4d8"}]' }, host);
  };
  const endTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const reported = { finding: 'e8c4d8', state: 'done', endTime };
  const actions = [
    { ...reported, description: 'remove container c', journalEntry: 1 },
    { ...reported, description: 'make the link /bin -> usr/bin', journalEntry: 2 },
  ];
  const half = [record(1, remove, [restore])];
  expect(await attempt(half, { given: 'to-act' })).toMatchObject({
    succeeded: true,
    record: { actions },
  });
  expect(intents.splice(0)).toMatchObject([{ action: restore, finding: 'e8c4d8', purpose: 'u/2' }]);
  // A policy that forbids it meanwhile counts, and what was done is reported.
  expect(await attempt(half, { given: 'none', why: 'refused: no' })).toMatchObject({
    succeeded: false,
    record: {
      actions: actions.slice(0, 1),
      plannedActions: [{ description: actions[1]?.description }],
    },
  });
  const whole = [...half, record(2, restore)];
  expect(await attempt(whole, { given: 'none', why: 'not asked' })).toMatchObject({
    succeeded: true,
    record: { actions },
  });
  // A later attempt has made a plan of its own, and all of that was done.
  const again = [record(1, remove, [{ ...restore, path: '/old' }]), record(2, restore, [])];
  expect(await attempt(again, { given: 'none', why: 'not asked' })).toMatchObject({
    succeeded: true,
    record: { actions },
  });
  expect(intents).toEqual([]);
});

test('what is left of a pod is repaired without a person if the journal shows that the pod is gone', async () => {
  const node = await nodeAt('orphaned-volume-metadata/active-list-hidden');
  const intents: Intent[] = [];
  const repairWith = async (hasSeenGone: (podUid: string, finding: string) => boolean) => {
    const host = hostOn(node, {
      saveEvidence: async () => ({ path: '/bundle' }),
      consent: async () => ({ given: 'to-act' }),
      openRepair: async () => ({
        ...{ isOpen: true, settled: [], close: () => {} },
        perform: async (intent) => {
          intents.push(intent);
          return { outcome: { state: 'done' }, entry: 1 };
        },
      }),
      hasSeenGone,
    });
    const { results = {} } = await run('orphanedVolumeMetadataDiagnoser', {}, host);
    return run('orphanedVolumeMetadataRecover', results, host);
  };
  expect(await repairWith(() => false)).toMatchObject({
    ...{ succeeded: false, reason: 'Refused' },
    message: expect.stringContaining('refused: only a person can confirm it'),
    record: { plannedActions: [{ kind: 'set-aside' }] },
  });
  expect(intents).toEqual([]);
  const asked: string[] = [];
  const isGone = (podUid: string, finding: string) => {
    asked.push(`${podUid} ${finding}`);
    return true;
  };
  expect(await repairWith(isGone)).toMatchObject({
    succeeded: true,
    record: { actions: [{ kind: 'set-aside', state: 'done' }] },
  });
  const [intent] = intents;
  expect(intents).toMatchObject([{ action: { kind: 'set-aside', podUid: ORPHAN } }]);
  expect(asked).toEqual([`${ORPHAN} ${intent?.finding}`]);
});

async function nodeAt(path: string): Promise<NodeReader> {
  return new RecordedNode((await fixtureAt(path)).recording);
}
