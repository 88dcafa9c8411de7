import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundleFilesIn } from '../../hosts/local-node/bundle-folder.ts';
import { checkUp } from '../../node/checkup/judge-faults.ts';
import type { FaultReport } from '../../node/checkup/report.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { faults } from '../../node/faults/index.ts';
import { bundleOfFiles } from '../../node/recording/bundle.ts';
import { RecordedNode } from '../../node/recording/recorded-node.ts';
import { checkGraph } from '../graph/check-graph.ts';
import { STEP_MESSAGE_CHARACTERS_MAX } from '../graph/limits.ts';
import { wordsOf } from './action-text.ts';
import { faultProcessors, ownOperationSets } from './fault-processors.ts';
import { stepsOf } from './fault-steps.ts';
import { FINDINGS_STORED_MAX } from './limits.ts';
import type { OperationResult, StepInput } from './operation-result.ts';
import type { Consent, ProcessorHost } from './processor-host.ts';

const recorded = faults.flatMap((fault) => {
  const home = join(import.meta.dirname, '../../node/faults', fault.id, 'fixtures');
  return readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ fault, name, home }));
});

type Recorded = (typeof recorded)[number];

function goldenOf({ home, name }: Recorded): FaultReport {
  return JSON.parse(readFileSync(join(home, `${name}.json`), 'utf8')) as FaultReport;
}

/** A recorded node that lets steps plan, and where an attempt to change anything is a mistake. */
async function hostOn(
  { home, name }: Recorded,
  consent: Consent = { given: 'to-plan' },
): Promise<ProcessorHost> {
  const { recording, settings } = await bundleOfFiles(bundleFilesIn(join(home, name)));
  const snapshot = () => takeSnapshot(new RecordedNode(recording), settings);
  const forbidden = () => Promise.reject(new Error('it must not come so far'));
  return {
    snapshot,
    judge: async (fault, only) => {
      const [judged] = await checkUp([fault], snapshot(), only);
      if (!judged) throw new Error('no verdict');
      return { verdict: judged.verdict, storeEvidence: forbidden };
    },
    consent: () => Promise.resolve(consent),
    openRepair: forbidden,
    earlierActions: async () => ({ isKnown: true, done: [] }),
    timeoutMs: 5_000,
    stop: new AbortController().signal,
    stateFolder: '/nowhere',
    hostRoot: '/nowhere',
  };
}

function run(path: string, input: StepInput, host: ProcessorHost): Promise<OperationResult> {
  const processor = faultProcessors.find((each) => each.path === path);
  if (!processor) throw new Error(`no processor ${path}`);
  return processor.run(input, host);
}

const isUrgent = ({ state }: { state: string }) => state === 'active' || state === 'damaged';

describe.each(recorded)('$fault.id on $name', (each) => {
  const { fault } = each;
  const steps = stepsOf(fault);
  const golden = goldenOf(each);
  const urgent = golden.findings.filter(isUrgent);

  test('the diagnoser succeeds only where it hurts, and tells what the report tells', async () => {
    const result = await run(steps.diagnoserPath, {}, await hostOn(each));
    const reported = golden.findings.filter(({ state }) => state !== 'benign');
    expect(result.record?.findings ?? []).toEqual(
      reported
        .slice(0, FINDINGS_STORED_MAX)
        .map(({ id, state, reason, summary, subject, proof }) => {
          return { fault: fault.id, id, state, reason, summary, subject, proof };
        }),
    );
    expect(result.succeeded).toBe(urgent.length > 0);
    if (result.succeeded) {
      expect(Object.keys(result.results).toSorted()).toEqual(
        [steps.bugLink, steps.findings, steps.found].toSorted(),
      );
      expect(JSON.parse(result.results[steps.findings] ?? '')).toMatchObject(
        urgent.map(({ id, subject }) => ({ id, subject })),
      );
      expect(result.results[steps.found]).toContain(`${urgent[0]?.state}: ${urgent[0]?.summary}`);
      return;
    }
    expect(result.results).toBeUndefined();
    const words = {
      found: 'nothing is active now (kubediag recover ',
      clear: 'it is clear of',
      unknown: '',
    };
    expect(result.message).toContain(words[golden.verdict]);
    if (golden.verdict === 'unknown') {
      expect(result.message).toBe(`this node: it is not known: ${golden.reason}`);
    }
  });

  test('the recover step plans what the report plans, and only that', async () => {
    if (!fault.recover) {
      expect(faultProcessors.map(({ path }) => path)).not.toContain(steps.recoverPath);
      expect(urgent.flatMap(({ actions }) => actions)).toEqual([]);
      return;
    }
    const input = { [steps.findings]: JSON.stringify(golden.findings.map(({ id }) => ({ id }))) };
    const result = await run(steps.recoverPath, input, await hostOn(each));
    const planned = urgent.flatMap(({ id, actions }) =>
      actions.map((action) => {
        const { description, details } = wordsOf(action);
        return { kind: action.kind, fault: fault.id, finding: id, description, details };
      }),
    );
    expect(result.record?.plannedActions ?? []).toEqual(planned);
    expect(result.record?.actions).toBeUndefined();
    if (urgent.length === 0) {
      const words = golden.findings.length === 0 ? 'names no finding' : 'refused: a new look';
      expect(result).toHaveProperty('message', expect.stringContaining(words));
    } else if (result.succeeded) {
      expect(result.results[steps.recovered]).toMatch(/^would recover /);
    } else {
      expect(result.message).toMatch(/refused: (there is no repair|.* --confirm )/);
    }
  });
});

const ACTIVE = recorded.find(({ name }) => name === 'active-kubelet-complains') as Recorded;
const { findings, recoverPath, diagnoserPath } = stepsOf(ACTIVE.fault);

describe('what a recover step is told', () => {
  test.each([
    ['', 'this step needs'],
    ['rm -rf /', 'names no finding'],
    ['{}', 'names no finding'],
    ['["/var/lib/kubelet"]', 'names no finding'],
    ['[{"path":"/var/lib/kubelet","id":7}]', 'names no finding'],
    [
      '[{"id":"/var/lib/kubelet"}]',
      'refused: a new look does not find that /var/lib/kubelet hurts',
    ],
  ])('%j is no way to name a thing to be changed', async (text, words) => {
    const result = await run(recoverPath, { [findings]: text }, await hostOn(ACTIVE));
    expect(result).toMatchObject({ succeeded: false, message: expect.stringContaining(words) });
    expect(result.record).toBeUndefined();
  });

  test('is done by nobody who was not asked, and one that is gone is told', async () => {
    const ids = goldenOf(ACTIVE).findings.map(({ id }) => ({ id }));
    const input = { [findings]: JSON.stringify([...ids, { id: 'abcdef' }]) };
    const planned = await run(recoverPath, input, await hostOn(ACTIVE));
    expect(planned).toMatchObject({
      succeeded: true,
      results: {
        [stepsOf(ACTIVE.fault).recovered]: expect.stringMatching(/no longer found abcdef$/),
      },
    });
    const never = await hostOn(ACTIVE, { given: 'none', why: 'refused: spec.recovery is Never' });
    const refused = await run(recoverPath, input, never);
    expect(refused).toHaveProperty('message', expect.stringContaining('spec.recovery is Never'));
  });
});

test('hands that break off are closed: the next recovery needs the lock of the node', async () => {
  let isOpen = false;
  const host: ProcessorHost = {
    ...(await hostOn(ACTIVE, { given: 'to-act' })),
    openRepair: async () => {
      isOpen = true;
      const close = () => {
        isOpen = false;
      };
      const perform = () => Promise.reject(new Error('a mistake of ours'));
      return { isOpen: true, settled: [], close, perform };
    },
  };
  const { judge } = host;
  const storeEvidence = async () => ({ path: '/kept' });
  const keeping = {
    judge: async (...asked: Parameters<typeof judge>) => ({
      ...(await judge(...asked)),
      storeEvidence,
    }),
  };
  const ids = goldenOf(ACTIVE).findings.map(({ id }) => ({ id }));
  const input = { [findings]: JSON.stringify(ids) };
  await expect(run(recoverPath, input, { ...host, ...keeping })).rejects.toThrow('a mistake');
  expect(isOpen).toBe(false);
});

test('what only a person may confirm is refused, and the words to do it are not cut off', async () => {
  const hidden = recorded.find(({ name }) => name === 'active-without-any-credential') as Recorded;
  const steps = stepsOf(hidden.fault);
  const { id, subject } = goldenOf(hidden).findings[0] as FaultReport['findings'][number];
  const input = { [steps.findings]: JSON.stringify([{ id }]) };
  const result = await run(steps.recoverPath, input, await hostOn(hidden, { given: 'to-act' }));
  const message = result.succeeded ? '' : result.message;
  const command = `kubediag recover ${hidden.fault.id} --finding ${id} --confirm ${subject.podUid}`;
  expect(message.slice(0, STEP_MESSAGE_CHARACTERS_MAX)).toContain(command);
});

test('a pod that the Diagnosis names is the only one that counts', async () => {
  const pod = { 'pod.namespace': 'shop', 'pod.name': 'no-such-pod' };
  const result = await run(diagnoserPath, pod, await hostOn(ACTIVE));
  expect(result).toMatchObject({
    succeeded: false,
    message: expect.stringMatching(/^pod shop\/no-such-pod \(leave podReference out /),
  });
  expect(result.record).toBeUndefined();
});

test('each fault has its steps and its graph, and they fit together', () => {
  expect(ownOperationSets.map(({ name }) => name)).toEqual(faults.map(({ id }) => id));
  const known = new Set(faultProcessors.map(({ operation }) => operation));
  for (const { adjacencyList } of ownOperationSets) {
    expect(checkGraph(adjacencyList)).toEqual([]);
    for (const { operation } of adjacencyList.slice(1)) expect(known).toContain(operation);
  }
  expect(faultProcessors.map(({ path }) => path)).toContain('/processor/deadVolumeMountDiagnoser');
});
