import { expect, test } from 'vitest';
import { diagnosisSummary } from './diagnosis-summary.ts';

const METADATA = { name: 'web', namespace: 'shop' };
const FINDING = {
  fault: 'a-fault',
  id: '3f9a1c',
  state: 'active',
  summary: 'The pod cannot start.',
};
const ACTION = { kind: 'unmount', fault: 'a-fault', finding: '3f9a1c', description: 'unmount /a' };
const WHY = 'refused: the mount changed; check again';
const is = (reason: string, message: string) => ({ type: 'x', status: 'True', reason, message });
const ACCEPTED = is('DiagnosisAccepted', 'Diagnosis is accepted by agent on node my-node');
const ALL_FAILED = is('AllPathsFailed', 'The only path failed; see status.steps');

const screenOf = (status: object, spec: object = {}) =>
  diagnosisSummary({ metadata: METADATA, spec, status }, 80).lines.join('\n');

test.each([
  [
    'a healthy node',
    {
      phase: 'Failed',
      conditions: [ACCEPTED, ALL_FAILED],
      steps: [
        {
          operation: 'snapshot',
          outcome: 'Failed',
          reason: 'NothingFound',
          message: 'it is clear',
        },
      ],
    },
    [
      'Result:       NothingFound',
      'Why:',
      '  - snapshot: it is clear',
      'Next:',
      '  - nothing to do',
    ],
  ],
  [
    'a repair that was refused: said once, though the action and the step both say why',
    {
      phase: 'Failed',
      conditions: [ACCEPTED, ALL_FAILED],
      steps: [
        { operation: 'mend', outcome: 'Failed', reason: 'Refused', message: `3f9a1c: ${WHY}` },
      ],
      findings: [FINDING],
      actions: [{ ...ACTION, state: 'refused', why: WHY }],
    },
    [
      'Result:       Refused',
      'Why:',
      `  - mend: 3f9a1c: ${WHY}`,
      'Found:',
      '  - a-fault 3f9a1c (active): The pod cannot start.',
      'Actions:',
      '  - refused: unmount /a',
      '      for finding a-fault/3f9a1c',
      'Next:',
      '  - kubediag check a-fault',
    ],
  ],
  [
    'a repair that was approved: what was planned is what was done',
    {
      phase: 'Succeeded',
      conditions: [ACCEPTED, is('DiagnosisComplete', 'Diagnosis is completed')],
      findings: [FINDING],
      plannedActions: [{ ...ACTION, summary: FINDING.summary }],
      actions: [{ ...ACTION, state: 'done', journalEntry: 7 }],
    },
    [
      'Result:       Repaired',
      'Found:',
      '  - a-fault 3f9a1c (active): The pod cannot start.',
      'Actions:',
      '  - done: unmount /a',
      '      for finding a-fault/3f9a1c, entry 7 of the journal',
      'Next:',
      '  - nothing to do',
    ],
  ],
  [
    'a pod that is not there',
    { phase: 'Failed', conditions: [is('PodNotFound', 'Pod not found: shop/web')] },
    ['Result:       Error', 'Why:', '  - Pod not found: shop/web'],
  ],
])('%s', (_, status, lines) => {
  expect(screenOf(status)).toBe(lines.join('\n'));
});

test('what waits for approval says what would be done, and what to type', () => {
  const plannedActions = [{ ...ACTION, plan: 'abc', summary: FINDING.summary }];
  const status = { phase: 'Running', plan: 'abc', findings: [FINDING], plannedActions };
  expect(screenOf(status, { recovery: 'Approval' }).split('\n')).toEqual([
    'Result:       WaitingForApproval',
    'Found:',
    '  - a-fault 3f9a1c (active): The pod cannot start.',
    'Planned:',
    '  - unmount /a',
    '      for finding a-fault/3f9a1c',
    'Next:',
    '  - kubediag approve web -n shop',
    '  - kubediag cancel web -n shop',
  ]);
});

test('what was said is known, so that nobody says it again', () => {
  const { isMentioned } = diagnosisSummary({ status: { findings: [FINDING] } }, 80);
  expect(isMentioned(`active: ${FINDING.summary}`)).toBe(true);
  expect(isMentioned('something else')).toBe(false);
});
