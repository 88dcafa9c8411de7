import { describe, expect, test } from 'vitest';
import { answerOn, fixtureAt, fixturePaths } from '../../../test/fault-fixtures.ts';
import { hostOn } from '../../../test/synthetic-host.ts';
import { cutSentence } from '../../lib/std/cut-sentence.ts';
import type { FaultReport } from '../../node/checkup/report.ts';
import { faults } from '../../node/faults/index.ts';
import { RecordedNode } from '../../node/recording/recorded-node.ts';
import type { Consent } from '../../node/repair/recover.ts';
import { checkGraph } from '../graph/check-graph.ts';
import { STEP_MESSAGE_CHARACTERS_MAX } from '../graph/limits.ts';
import { wordsOf } from '../steps/action-text.ts';
import type { OperationResult, StepInput } from '../steps/operation-result.ts';
import { ownOperationSets, processors } from './catalogue.ts';
import { stepsOf } from './fault-steps.ts';
import { FINDINGS_STORED_MAX, PROOF_CHARACTERS_MAX } from './limits.ts';
import type { ProcessorHost } from './processor-host.ts';

const paths = await fixturePaths();
const fixtures = await Promise.all(
  paths.map(async (path) => {
    const fault = faults.find(({ id }) => path.startsWith(`${id}/`));
    if (!fault) throw new Error(path);
    const bundle = await fixtureAt(path);
    return { path, fault, bundle, report: await answerOn(fault, bundle) };
  }),
);

type Fixture = (typeof fixtures)[number];

function fixtureNamed(path: string): Fixture {
  const fixture = fixtures.find((each) => each.path === path);
  if (!fixture) throw new Error(path);
  return fixture;
}

/** A recorded node that lets steps plan, and where an attempt to change anything is a mistake. */
function hostWith(
  { bundle: { recording, settings } }: Fixture,
  consent: Consent = { given: 'to-plan' },
): ProcessorHost {
  return hostOn(new RecordedNode(recording), { settings, consent: async () => consent });
}

function run(path: string, input: StepInput, host: ProcessorHost): Promise<OperationResult> {
  const processor = processors.find((each) => each.path === path);
  if (!processor) throw new Error(`no processor ${path}`);
  return processor.run(input, host);
}

const isUrgent = ({ state }: { state: string }) => state === 'active' || state === 'damaged';

describe.each(fixtures)('$path', (each) => {
  const { fault, report } = each;
  const steps = stepsOf(fault);
  const urgent = report.findings.filter(isUrgent);

  test('the diagnoser succeeds only for active findings, and has the same as the report', async () => {
    const result = await run(steps.diagnoserPath, {}, hostWith(each));
    const reported = report.findings.filter(({ state }) => state !== 'benign');
    expect(result.record?.findings ?? []).toEqual(
      reported
        .slice(0, FINDINGS_STORED_MAX)
        .map(({ id, state, reason, summary, subject, proof }) => {
          const stored = proof.map(({ text, ...rest }) => ({
            ...rest,
            ...(text !== undefined && { text: cutSentence(text, PROOF_CHARACTERS_MAX) }),
          }));
          return { fault: fault.id, id, state, reason, summary, subject, proof: stored };
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
    expect(result.message).toContain(words[report.verdict]);
    if (report.verdict === 'unknown') {
      expect(result.message).toBe(`this node: it is not known: ${report.reason}`);
    }
  });

  test('the recover step plans what the report plans, and only that', async () => {
    if (!fault.recover) {
      expect(processors.map(({ path }) => path)).not.toContain(steps.recoverPath);
      expect(urgent.flatMap(({ actions }) => actions)).toEqual([]);
      return;
    }
    const input = { [steps.findings]: JSON.stringify(report.findings.map(({ id }) => ({ id }))) };
    const result = await run(steps.recoverPath, input, hostWith(each));
    const planned = urgent.flatMap(({ id, actions }) =>
      actions.map((action) => {
        const { description, details } = wordsOf(action);
        return { kind: action.kind, fault: fault.id, finding: id, description, details };
      }),
    );
    expect(result.record?.plannedActions ?? []).toEqual(planned);
    expect(result.record?.actions).toBeUndefined();
    if (urgent.length === 0) {
      const words = report.findings.length === 0 ? 'names no finding' : 'refused: a new check';
      expect(result).toHaveProperty('message', expect.stringContaining(words));
    } else if (result.succeeded) {
      expect(result.results[steps.recovered]).toMatch(/^would recover /);
    } else {
      expect(result.message).toMatch(/refused: (there is no repair|.* --confirm )/);
    }
  });
});

const ACTIVE = fixtureNamed('orphaned-volume-metadata/active-kubelet-complains');
const { findings, recoverPath, diagnoserPath } = stepsOf(ACTIVE.fault);

describe('the input of a recover step', () => {
  test.each([
    ['', 'this step needs'],
    ['rm -rf /', 'names no finding'],
    ['{}', 'names no finding'],
    ['["/var/lib/kubelet"]', 'names no finding'],
    ['[{"path":"/var/lib/kubelet","id":7}]', 'names no finding'],
    [
      '[{"id":"/var/lib/kubelet"}]',
      'refused: a new check does not find that /var/lib/kubelet is active',
    ],
  ])('%j is no way to name a thing to be changed', async (text, words) => {
    const result = await run(recoverPath, { [findings]: text }, hostWith(ACTIVE));
    expect(result).toMatchObject({ succeeded: false, message: expect.stringContaining(words) });
    expect(result.record).toBeUndefined();
  });

  test('needs consent, and a finding that is gone is reported', async () => {
    const ids = ACTIVE.report.findings.map(({ id }) => ({ id }));
    const input = { [findings]: JSON.stringify([...ids, { id: 'abcdef' }]) };
    const planned = await run(recoverPath, input, hostWith(ACTIVE));
    expect(planned).toMatchObject({
      succeeded: true,
      results: {
        [stepsOf(ACTIVE.fault).recovered]: expect.stringMatching(/no longer found abcdef$/),
      },
    });
    const never = hostWith(ACTIVE, { given: 'none', why: 'refused: spec.recovery is Never' });
    const refused = await run(recoverPath, input, never);
    expect(refused).toHaveProperty('message', expect.stringContaining('spec.recovery is Never'));
  });
});

test('a repair that breaks off is closed: the next recovery needs the lock of the node', async () => {
  let isOpen = false;
  const host: ProcessorHost = {
    ...hostWith(ACTIVE, { given: 'to-act' }),
    saveEvidence: async () => ({ path: '/stored' }),
    openRepair: async () => {
      isOpen = true;
      const close = () => {
        isOpen = false;
      };
      const perform = () => Promise.reject(new Error('a mistake of ours'));
      return { isOpen: true, settled: [], close, perform };
    },
  };
  const ids = ACTIVE.report.findings.map(({ id }) => ({ id }));
  const input = { [findings]: JSON.stringify(ids) };
  await expect(run(recoverPath, input, host)).rejects.toThrow('a mistake');
  expect(isOpen).toBe(false);
});

test('what only a person may confirm is refused, and the words to do it are not cut off', async () => {
  const hidden = fixtureNamed('dead-volume-mount/active-without-any-credential');
  const steps = stepsOf(hidden.fault);
  const { id, subject } = hidden.report.findings[0] as FaultReport['findings'][number];
  const input = { [steps.findings]: JSON.stringify([{ id }]) };
  const result = await run(steps.recoverPath, input, hostWith(hidden, { given: 'to-act' }));
  const message = result.succeeded ? '' : result.message;
  const command = `kubediag recover ${hidden.fault.id} --finding ${id} --confirm ${subject.podUid}`;
  expect(message.slice(0, STEP_MESSAGE_CHARACTERS_MAX)).toContain(command);
});

test('a pod that the Diagnosis names is the only one that counts', async () => {
  const pod = { 'pod.namespace': 'shop', 'pod.name': 'no-such-pod' };
  const result = await run(diagnoserPath, pod, hostWith(ACTIVE));
  expect(result).toMatchObject({
    succeeded: false,
    message: expect.stringMatching(/^pod shop\/no-such-pod \(leave podReference out /),
  });
  expect(result.record).toBeUndefined();
  const ids = JSON.stringify(ACTIVE.report.findings.map(({ id }) => ({ id })));
  const refused = await run(recoverPath, { ...pod, [findings]: ids }, hostWith(ACTIVE));
  expect(refused).toHaveProperty(
    'message',
    expect.stringMatching(/^refused: a new check does not/),
  );
  expect(refused.record).toBeUndefined();
});

test('each fault has its steps and its graph, and they fit together', () => {
  expect(ownOperationSets.map(({ name }) => name)).toEqual(faults.map(({ id }) => id));
  const known = new Set(processors.map(({ operation }) => operation));
  for (const { adjacencyList } of ownOperationSets) {
    expect(checkGraph(adjacencyList)).toEqual([]);
    for (const { operation } of adjacencyList.slice(1)) expect(known).toContain(operation);
  }
  expect(processors.map(({ path }) => path)).toContain('/processor/deadVolumeMountDiagnoser');
});
