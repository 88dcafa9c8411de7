import { describe, expect, test } from 'vitest';
import { step } from '../../../test/synthetic-channel.ts';
import { hostOn } from '../../../test/synthetic-host.ts';
import { makeFolder } from '../../../test/synthetic-kubelet.ts';
import {
  MARKERS,
  nodeWithTwoPods,
  OTHER,
  OWN,
  podOf,
  sideOf,
  type TwoPods,
  targetOf,
} from '../../../test/two-pods.ts';
import { faults } from '../../node/faults/index.ts';
import type { StepInput } from '../steps/operation-result.ts';
import type { StepOutcome } from '../steps/step-to-run.ts';
import { builtIn, processors } from './catalogue.ts';
import { stepsOf } from './fault-steps.ts';
import { stepsOn } from './run-step.ts';

interface Run extends TwoPods {
  readonly input?: StepInput;
  readonly pod?: Pick<typeof OWN, 'namespace' | 'name'>;
}

/** Every text that a step gives away: its outcome, its files, and what its repairs would touch. */
async function run(path: string, { input, pod = OWN, ...node }: Run = {}) {
  const texts: unknown[] = [];
  const host = hostOn(nodeWithTwoPods(node).build(), {
    storeFile: async (file) => {
      texts.push(file.name, Buffer.from(file.bytes).toString());
      return { ok: true, value: '/stored' };
    },
  });
  const steps = stepsOn({
    limitsToPods: true,
    withHost: (request, use) => use({ ...host, consent: request.consent }),
  });
  const outcome = await steps(
    step({
      processor: builtIn(path),
      input: { ...input, 'pod.namespace': pod.namespace, 'pod.name': pod.name },
      diagnosis: { ...step().diagnosis, spec: { recovery: 'Approval' } as never },
    }),
  );
  return { outcome, text: JSON.stringify([outcome, texts]) };
}

const messageIn = (outcome: StepOutcome) => ('message' in outcome ? outcome.message : '');

const FOREIGN_ID = 'abcdef';
const SUBPATH = 'diagnoser.kubernetes.subpath_remount';
const detailOf = (pod: typeof OWN) => JSON.stringify(podOf(pod));
/** The author of a Diagnosis chooses any of these. None is shown if it is not a fact about the node. */
const TRICKS: Readonly<Record<string, StepInput>> = {
  nothing: {},
  'the detail of the other pod': {
    'collector.kubernetes.pod.detail': detailOf(OTHER),
    'collector.system.mountinfo': 'x',
  },
  'the own name with the UID of the other pod': {
    'collector.kubernetes.pod.detail': detailOf({ ...OWN, uid: OTHER.uid }),
    'collector.system.mountinfo': 'x',
  },
  'the mount of the other pod': {
    [`${SUBPATH}.original_destination_path`]: targetOf(OTHER),
    [`${SUBPATH}.original_source_path`]: targetOf(OTHER),
  },
  'a path out of the own pod': {
    [`${SUBPATH}.original_destination_path`]: `${targetOf(OWN)}/../../../../../${OTHER.uid}`,
  },
  'findings of the whole node': Object.fromEntries(
    faults.map((fault) => [
      stepsOf(fault).findings,
      JSON.stringify([{ id: FOREIGN_ID, subject: { podUid: OTHER.uid } }]),
    ]),
  ),
  'names in all places': {
    ...{ container: '../../bank/vault-7/app', 'diagnosis.namespace': OTHER.namespace },
    ...{ node: 'other', 'pod.uid': OTHER.uid },
  },
  'a process, a container and servers of others': {
    'param.diagnoser.runtime.core_file_profiler.type': 'coredump',
    'param.diagnoser.runtime.core_file_profiler.pid': String(OTHER.pid),
    'param.diagnoser.runtime.core_file_profiler.filepath': `/var/lib/kubediag/corefile/kubernetes/${OTHER.namespace}/${OTHER.name}/app`,
    'param.diagnoser.runtime.go_profiler.type': 'Heap',
    'param.diagnoser.runtime.go_profiler.source': `http://${OTHER.ip}:6060`,
    'param.diagnoser.runtime.tcpdump_profiler.container': OTHER.container,
    'param.collector.log.elasticsearch.address': `http://${OTHER.ip}:9200`,
    'param.collector.log.elasticsearch.match': OTHER.word,
    'sonobuoy_result_diagnoser.temporary_result_directory': `../${OTHER.namespace}`,
    'sonobuoy_result_diagnoser.e2e_file': OTHER.name,
    'collector.kubernetes.statefulset.name': 'x',
    'collector.kubernetes.statefulset.namespace': 'y',
  },
};

describe.each(processors.map(({ path }) => path))('%s', (path) => {
  test.each(Object.entries(TRICKS))('shows nothing of another pod, given %s', async (_, input) => {
    for (const knownTo of ['both', 'kubelet', 'runtime', 'nobody'] as const) {
      const { text } = await run(path, { input, knownTo });
      // What the author of the Diagnosis wrote is no news to them, such as a path that is refused.
      const given = JSON.stringify(input);
      const shown = MARKERS.filter((marker) => text.includes(marker));
      expect(shown.filter((marker) => !given.includes(marker))).toEqual([]);
    }
  });

  test('runs for no pod that the node does not know', async () => {
    const foreign = { namespace: OWN.namespace, name: 'web-1' };
    for (const { pod, knownTo } of [
      { pod: foreign, knownTo: 'both' },
      { pod: OWN, knownTo: 'nobody' },
    ] as const) {
      const { outcome } = await run(path, { pod, knownTo });
      expect(outcome).toMatchObject({ succeeded: false });
      expect(messageIn(outcome)).toMatch(
        /is not identified on this node|cannot be limited to pod|this step needs/,
      );
    }
  });
});

test('every built-in processor has a decision, which this table repeats', () => {
  const of = (wanted: string) =>
    processors.filter(({ forPod }) => forPod === wanted).map(({ operation }) => operation);
  const wholeNode = ['kubelet-not-running', 'runtime-not-responding', 'conntrack-table-full'];
  const more = ['inotify-exhausted', 'resolv-conf-over-limit'];
  expect(of('refused').toSorted()).toEqual(
    [
      ...['go-profiler', 'elasticsearch-collector', 'sonobuoy-result-diagnoser'],
      ...['containerd-goroutine-collector', 'dockerd-goroutine-collector', 'docker-info-collector'],
      'node-cordon',
      ...[...wholeNode, ...more].map((fault) => `${fault}-diagnoser`),
    ].toSorted(),
  );
  const ofPods = ['stale-subpath-mount', 'dead-volume-mount', 'container-without-log-path'];
  const ofVolumes = ['leftover-volume-directory', 'orphaned-volume-metadata', 'subpath-remount'];
  expect(of('limited').toSorted()).toEqual(
    [
      ...['pod-list-collector', 'pod-detail-collector', 'container-collector'],
      ...['statefulset-detail-collector', 'statefulset-stuck'],
      ...['process-collector', 'mount-info-collector', 'tcpdump-profiler', 'core-file-profiler'],
      ...[...ofPods, ...ofVolumes].flatMap((each) => [`${each}-diagnoser`, `${each}-recover`]),
    ].toSorted(),
  );
});

describe('the own pod is shown in full', () => {
  test.each([
    ['podListCollector', [OWN.uid, OWN.word, OWN.ip]],
    ['podDetailCollector', [OWN.uid, OWN.word]],
    ['containerCollector', [sideOf(OWN), OWN.word]],
    ['processCollector', [String(OWN.pid), OWN.word]],
    ['mountInfoCollector', [targetOf(OWN), `${OWN.container}/rootfs`]],
    ['staleSubpathMountDiagnoser', [targetOf(OWN), 'ContainerCannotStart', 'shop/web-0']],
  ])('by %s', async (name, words) => {
    const { outcome, text } = await run(`/processor/${name}`);
    expect(outcome, text).toMatchObject({ succeeded: true });
    for (const word of words) expect(text).toContain(word);
  });

  test('and its fault is planned to be repaired, by both ways', async () => {
    const fault = faults.find(({ id }) => id === 'stale-subpath-mount');
    if (!fault) throw new Error('no such fault');
    const keys = stepsOf(fault);
    const { outcome } = await run(keys.diagnoserPath);
    const results = 'results' in outcome ? outcome.results : {};
    const own = { description: `unmount ${targetOf(OWN)}`, kind: 'unmount' };
    const recovered = await run(keys.recoverPath, { input: results ?? {} });
    expect(recovered.outcome).toMatchObject({ planned: [own] });
    const given = {
      'collector.kubernetes.pod.detail': detailOf(OWN),
      'collector.system.mountinfo': 'x',
    };
    const diagnosed = await run('/processor/subpathRemountDiagnoser', { input: given });
    expect(diagnosed.outcome).toMatchObject({ succeeded: true });
    const target = { [`${SUBPATH}.original_destination_path`]: targetOf(OWN) };
    const remounted = await run('/processor/subpathRemountRecover', { input: target });
    expect(remounted.outcome).toMatchObject({ planned: [own] });
  });
});

test('a mount, a pod or a UID of another pod is refused, and a pod with the same name is another pod', async () => {
  const refused = async (name: string, trick: string) => {
    const { outcome } = await run(`/processor/${name}`, { input: TRICKS[trick] ?? {} });
    expect(outcome).toMatchObject({ succeeded: false, reason: 'Refused' });
    expect(messageIn(outcome)).toContain('is not of the pod that the Diagnosis names');
  };
  await refused('subpathRemountDiagnoser', 'the detail of the other pod');
  await refused('subpathRemountDiagnoser', 'the own name with the UID of the other pod');
  await refused('subpathRemountRecover', 'the mount of the other pod');
  const { text } = await run('/processor/mountInfoCollector', {
    own: { ...OWN, uid: '11111111-386c-4e0d-82c1-215f93ff955d' },
  });
  expect(text).not.toContain(OWN.uid);
});

test('core files are those of the pod since it began, and no directory of another pod is read', async () => {
  const maker = nodeWithTwoPods();
  const home = '/var/lib/kubediag/corefile';
  const folder = `${home}/kubernetes/${OWN.namespace}/${OWN.name}/app`;
  makeFolder(maker, '', folder);
  // The sandbox of the pod was created on 2026-05-17.
  const files = { 'core.1': '2026-05-01', 'core.2': '2026-05-20' };
  maker.folder(folder, Object.keys(files));
  maker.set(
    'entries',
    { path: folder, names: Object.keys(files) },
    {
      answer: Object.entries(files).map(([name, day]) => ({
        name,
        isEmpty: null,
        status: {
          ...{ type: 'file', mode: 0o600, owner: 0, device: '254:1', inode: '9', links: 1 },
          ...{ sizeBytes: 5, modifiedMs: Date.parse(day) },
        },
      })),
    },
  );
  const node = maker.build();
  const steps = stepsOn({ limitsToPods: true, withHost: (_, use) => use(hostOn(node)) });
  const asked = 'param.diagnoser.runtime.core_file_profiler';
  const listed = async (more: StepInput) => {
    const named = { 'pod.namespace': OWN.namespace, 'pod.name': OWN.name, container: 'app' };
    const input = { [`${asked}.type`]: 'coredump', ...more, ...named };
    return steps(step({ processor: builtIn('/processor/coreFileProfiler'), input }));
  };
  for (const more of [{}, { [`${asked}.filepath`]: folder }]) {
    const text = JSON.stringify(await listed(more));
    expect(text).toContain('core.2');
    expect(text).not.toContain('core.1');
  }
  const others = [home, '/var/crash', `${home}/kubernetes/${OWN.namespace}/web-01/app`];
  for (const path of [...others, `${home}/kubernetes/${OTHER.namespace}/${OTHER.name}/app`]) {
    const outcome = await listed({ [`${asked}.filepath`]: path });
    expect(outcome).toMatchObject({ succeeded: false, reason: 'Refused' });
  }
});

test('without the limit the same steps see the node: it is what separates the pods', async () => {
  const host = hostOn(nodeWithTwoPods().build());
  for (const name of ['podListCollector', 'mountInfoCollector', 'processCollector']) {
    const steps = stepsOn({ withHost: (_, use) => use(host) });
    const input = { 'pod.namespace': OWN.namespace, 'pod.name': OWN.name };
    const processor = builtIn(`/processor/${name}`);
    const text = JSON.stringify(await steps(step({ processor, input })));
    expect(MARKERS.some((marker) => text.includes(marker))).toBe(true);
  }
});

test('a program of an Operation does not run for a pod that the node does not know', async () => {
  const script = { way: 'script', script: 'echo ran', argKeys: [], timeoutSeconds: 5 } as const;
  const host = hostOn(nodeWithTwoPods().build());
  const steps = stepsOn({ limitsToPods: true, withHost: (_, use) => use(host) });
  const processor = { ...script, operationResultKey: 'x' };
  const outcomeFor = (name: string) =>
    steps(step({ processor, input: { 'pod.namespace': OWN.namespace, 'pod.name': name } }));
  expect(await outcomeFor('web-1')).toMatchObject({ succeeded: false });
  expect(await outcomeFor('web-0')).toMatchObject({ results: { 'operation.x.output': 'ran\n' } });
});
