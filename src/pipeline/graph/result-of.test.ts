import { expect, test } from 'vitest';
import { type DiagnosisResult, RESULTS } from '../api/results.ts';
import { resultOf, withResult } from './result-of.ts';

const is = (reason: string, status = 'True') => ({ type: 'any', status, reason });
const failed = (reason?: string) => ({ outcome: 'Failed', reason });
const DONE = { state: 'done' };
const FINDING = { fault: 'a-fault', id: '3f9a1c', state: 'active' };
const ALL_FAILED = { phase: 'Failed', conditions: [is('AllPathsFailed')] };
const WALKED = { phase: 'Succeeded', conditions: [is('DiagnosisComplete')] };
const CUT = { phase: 'Failed', conditions: [is('DeadlineExceeded')] };
const CANCELLED = { phase: 'Failed', conditions: [is('DiagnosisCancelled')] };
const ASKING = { phase: 'Running', plan: 'abc' };
const APPROVAL = { recovery: 'Approval' };

type Row = readonly [string, DiagnosisResult | undefined, object, object?];

const ROWS: readonly Row[] = [
  // On its way.
  ['has not begun', undefined, {}],
  ['waits for its turn', undefined, { phase: 'Pending' }],
  ['runs', undefined, { phase: 'Running', findings: [FINDING], actions: [DONE] }],
  ['has the phase that nobody writes', undefined, { phase: 'Unknown' }],
  ['asks for approval', 'WaitingForApproval', ASKING, APPROVAL],
  [
    'asks while another plan is approved',
    'WaitingForApproval',
    ASKING,
    { ...APPROVAL, approvedPlan: 'b' },
  ],
  ['was approved and acts', undefined, ASKING, { ...APPROVAL, approvedPlan: 'abc' }],
  ['asked before it was made a dry run', undefined, ASKING, { ...APPROVAL, dryRun: true }],
  ['waited for approval before recovery was Never', undefined, ASKING, { recovery: 'Never' }],
  // Ended before its graph.
  ['was cancelled', 'Cancelled', CANCELLED],
  [
    'was cancelled after it repaired',
    'Cancelled',
    { ...CANCELLED, findings: [FINDING], actions: [DONE] },
  ],
  [
    'was cancelled instead of approved',
    'Cancelled',
    { ...CANCELLED, ...{ plan: 'abc' } },
    APPROVAL,
  ],
  ['was too late', 'Error', CUT],
  ['was too late with what it found', 'Error', { ...CUT, findings: [FINDING], actions: [DONE] }],
  ['has no OperationSet', 'Error', { phase: 'Failed', conditions: [is('OperationSetNotFound')] }],
  ['has no pod', 'Error', { phase: 'Failed', conditions: [is('PodNotFound')] }],
  ['has no node', 'Error', { phase: 'Failed', conditions: [is('TargetNotFound')] }],
  ['broke off', 'Error', { phase: 'Failed', conditions: [is('SyncDiagnosisFailed')] }],
  ['failed under a KubeDiag that wrote no condition', 'Error', { phase: 'Failed' }],
  // Walked to its end.
  ['repaired', 'Repaired', { ...WALKED, findings: [FINDING], actions: [DONE] }],
  ['could not act', 'Error', { ...WALKED, actions: [DONE, { state: 'failed' }] }],
  ['acted without effect', 'Error', { ...WALKED, actions: [DONE, { state: 'no-effect' }] }],
  [
    'repaired before a later step failed',
    'Repaired',
    { ...ALL_FAILED, actions: [DONE], steps: [failed()] },
  ],
  ['did an action in vain', 'Error', { ...ALL_FAILED, actions: [DONE, { state: 'no-effect' }] }],
  [
    'failed at an action',
    'Error',
    { ...ALL_FAILED, actions: [{ state: 'failed' }], steps: [failed()] },
  ],
  [
    'repaired one and was refused another',
    'Refused',
    { ...ALL_FAILED, actions: [DONE], steps: [failed('Refused')] },
  ],
  [
    'was refused an action',
    'Refused',
    { ...ALL_FAILED, findings: [FINDING], actions: [{ state: 'refused' }] },
  ],
  [
    'may never repair what it found',
    'Found',
    {
      ...ALL_FAILED,
      findings: [FINDING],
      actions: [{ state: 'refused' }],
      steps: [failed('Refused')],
    },
    { recovery: 'Never' },
  ],
  [
    'repaired before recovery was Never',
    'Refused',
    { ...ALL_FAILED, findings: [FINDING], actions: [DONE], steps: [failed('Refused')] },
    { recovery: 'Never' },
  ],
  [
    'may never repair, found nothing, and was refused a script',
    'Refused',
    { ...ALL_FAILED, steps: [failed('Refused')] },
    { recovery: 'Never' },
  ],
  [
    'was refused on one path, and went another',
    'Refused',
    { ...WALKED, steps: [failed('Refused')] },
  ],
  [
    'found something in a dry run',
    'Found',
    { ...WALKED, findings: [FINDING], plannedActions: [{}] },
  ],
  [
    'found what is not active',
    'Found',
    { ...ALL_FAILED, findings: [FINDING], steps: [failed('NotActive')] },
  ],
  [
    'found nothing',
    'NothingFound',
    { ...ALL_FAILED, steps: [failed('NothingFound'), { outcome: 'NotRun' }] },
  ],
  [
    'found nothing on each path',
    'NothingFound',
    { ...ALL_FAILED, steps: [failed('NothingFound'), failed('NothingFound')] },
  ],
  [
    'found nothing, and then notified somebody',
    'NothingFound',
    { ...WALKED, steps: [failed('NothingFound'), { outcome: 'Succeeded' }] },
  ],
  [
    'could not judge one of two',
    'Error',
    { ...ALL_FAILED, steps: [failed('NothingFound'), failed('Unknown')] },
  ],
  ['could not ask a server', 'Error', { ...ALL_FAILED, steps: [failed()] }],
  [
    'has more steps than its status lists',
    'Error',
    { ...ALL_FAILED, stepsNotListed: 1, steps: [failed('NothingFound')] },
  ],
  ['gave no verdict', 'Completed', { ...WALKED, steps: [{ outcome: 'Succeeded' }] }],
  [
    'gave no verdict after a path that failed',
    'Completed',
    { ...WALKED, steps: [failed(), { outcome: 'Succeeded' }] },
  ],
  [
    'could not judge a fault before another path succeeded',
    'Error',
    { ...WALKED, steps: [failed('Unknown'), { outcome: 'Succeeded' }] },
  ],
  // Not of our form.
  [
    'is damaged',
    'Error',
    { phase: 'Failed', conditions: 'x', steps: 7, actions: {}, findings: null },
  ],
  [
    'is damaged in its lists',
    'Error',
    { ...ALL_FAILED, steps: [null, 7], actions: [[]], findings: 'x' },
  ],
];

test.each(ROWS)('a Diagnosis that %s: %s', (_, result, status, spec = {}) => {
  expect(resultOf(spec, status)).toBe(result);
});

test('every result is possible', () => {
  expect(new Set(ROWS.map(([, result]) => result))).toEqual(
    new Set([undefined, ...Object.keys(RESULTS)]),
  );
});

test('sets and removes a result, which does not depend on itself', () => {
  const asking = { phase: 'Running', plan: 'abc' } as const;
  const waiting = withResult(APPROVAL, asking);
  expect(waiting).toEqual({ ...asking, result: 'WaitingForApproval' });
  expect(withResult(APPROVAL, waiting)).toBe(waiting);
  expect(withResult({ ...APPROVAL, approvedPlan: 'abc' }, waiting)).toEqual(asking);
});
