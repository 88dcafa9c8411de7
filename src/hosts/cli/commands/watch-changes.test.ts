import { expect, test } from 'vitest';
import type { FaultReport, FindingReport, Report } from '../../../node/checkup/report.ts';
import type { FindingState } from '../../../node/model/finding.ts';
import { changesOf } from './watch.ts';

function finding(id: string, state: FindingState): FindingReport {
  return {
    id,
    state,
    reason: 'Made',
    summary: `finding ${id}`,
    subject: {},
    proof: [],
    blastRadius: '',
    excluded: [],
    alternatives: [],
    actions: [],
  };
}

function report(verdict: FaultReport['verdict'], ...findings: readonly FindingReport[]): Report {
  const reason = verdict === 'unknown' ? { reason: 'nobody answered' } : {};
  return {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Report',
    node: {
      name: 'worker-7',
      time: '2026-11-15T10:22:33.000Z',
      kubelet: { presence: 'running' },
      tookMs: 1,
    },
    faults: [{ name: 'made', title: '', references: [], verdict, ...reason, findings }],
  };
}

const reported = (before: Report | undefined, after: Report) =>
  changesOf(before, after).map((each) => [each.change, each.finding?.id, each.before]);

test('nothing is reported without a change', () => {
  expect(reported(report('clear'), report('clear'))).toEqual([]);
  const found = report('found', finding('a', 'active'));
  expect(reported(found, found)).toEqual([]);
});

test('a finding appears, changes and goes', () => {
  const latent = report('found', finding('a', 'latent'));
  const active = report('found', finding('a', 'active'), finding('b', 'latent'));
  expect(reported(report('clear'), latent)).toEqual([['appeared', 'a', undefined]]);
  expect(reported(latent, active)).toEqual([
    ['changed', 'a', 'latent'],
    ['appeared', 'b', undefined],
  ]);
  expect(reported(active, report('clear'))).toEqual([
    ['gone', 'a', undefined],
    ['gone', 'b', undefined],
  ]);
});

test('what can no longer be judged is not called gone', () => {
  const active = report('found', finding('a', 'active'));
  expect(reported(active, report('unknown'))).toEqual([['verdict', undefined, 'found']]);
  expect(reported(report('unknown'), report('clear'))).toEqual([['verdict', undefined, 'unknown']]);
});

test('the first report has everything', () => {
  expect(reported(undefined, report('found', finding('a', 'active')))).toEqual([
    ['appeared', 'a', undefined],
  ]);
  expect(reported(undefined, report('unknown'))).toEqual([['verdict', undefined, undefined]]);
  expect(reported(undefined, report('clear'))).toEqual([]);
});
