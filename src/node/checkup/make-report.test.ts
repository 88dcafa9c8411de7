import { expect, test } from 'vitest';
import type { AnyFault, Precedence } from '../model/fault.ts';
import type { Finding, FindingState } from '../model/finding.ts';
import { type Unknown, verdictOf } from '../model/verdict.ts';
import { findingId, type Judged } from './judge-faults.ts';
import { makeReport } from './make-report.ts';

const NODE = { name: 'worker-7', time: '', kubelet: { presence: 'running' }, tookMs: 1 } as const;

function finding(state: FindingState, podUid?: string): Finding {
  return {
    state,
    reason: 'Made',
    summary: '',
    subject: podUid === undefined ? {} : { podUid },
    proof: [],
    blastRadius: '',
    excluded: [],
    alternatives: [],
    pins: { state, podUid },
  };
}

function fault(id: string, more: Partial<AnyFault> = {}): AnyFault {
  return {
    id,
    title: id,
    severity: 'broken',
    stage: 'stable',
    references: [],
    affected: [],
    reasons: {},
    needs: {},
    diagnose: () => ({ state: 'clear', findings: [], unknowns: [] }),
    ...more,
  };
}

function judged(fixture: AnyFault, findings: readonly Finding[], unknown?: string): Judged {
  const unknowns = unknown === undefined ? [] : [{ why: unknown }];
  return { fault: fixture, verdict: verdictOf({ findings, unknowns }) };
}

test('the most urgent fault comes first, whatever order it was judged in', () => {
  const report = makeReport(NODE, [
    judged(fault('well'), []),
    judged(fault('harmless'), [finding('benign')]),
    judged(fault('unclear'), [], 'nobody answered'),
    judged(fault('sleeping'), [finding('latent')]),
    judged(fault('aching-little', { severity: 'degraded' }), [finding('active')]),
    judged(fault('aching'), [finding('latent'), finding('active')]),
    judged(fault('damaged', { severity: 'info' }), [finding('damaged')]),
  ]);
  expect(report.faults.map(({ name }) => name)).toEqual([
    'damaged',
    'aching',
    'aching-little',
    'sleeping',
    'unclear',
    'harmless',
    'well',
  ]);
});

test('a finding names the repair that must come first, on the same pod or on the node', () => {
  const onPod: Precedence = { fault: 'second', on: 'pod', why: 'its directory hangs' };
  const onNode: Precedence = { fault: 'second', on: 'node', why: 'it deletes files' };
  const hung = finding('latent', 'u1');
  const armed = finding('active');
  const { faults } = makeReport(NODE, [
    judged(fault('hanging', { before: [onPod] }), [hung, finding('benign', 'u2')]),
    judged(fault('deleting', { before: [onNode] }), [armed]),
    judged(fault('second'), [finding('active', 'u1'), finding('active', 'u2')]),
  ]);
  const [first, second] = faults.find(({ name }) => name === 'second')?.findings ?? [];
  const deleting = {
    fault: 'deleting',
    finding: findingId({ id: 'deleting' }, armed),
    why: 'it deletes files',
  };
  expect(first?.waitsFor).toEqual([
    { fault: 'hanging', finding: findingId({ id: 'hanging' }, hung), why: 'its directory hangs' },
    deleting,
  ]);
  expect(second?.waitsFor).toEqual([deleting]);
});

test('a finding that waits for nobody says nothing of it', () => {
  const before: Precedence = { fault: 'second', on: 'node', why: 'it deletes files' };
  const { faults } = makeReport(NODE, [
    judged(fault('deleting', { before: [before] }), []),
    judged(fault('second'), [finding('active', 'u1')]),
  ]);
  expect(faults[0]?.findings[0]).not.toHaveProperty('waitsFor');
});

test('a fault lists the failures of its reads, each one once', () => {
  const unknowns: readonly Unknown[] = [
    { why: 'a', failures: ['denied', 'timeout'] },
    { why: 'b', failures: ['denied'] },
    { why: 'c: permission denied' },
  ];
  const verdict = verdictOf({ findings: [], unknowns });
  const [first, second] = makeReport(NODE, [
    { fault: fault('unread'), verdict },
    judged(fault('unclear'), [], 'permission denied'),
  ]).faults;
  expect(first?.failures).toEqual(['denied', 'timeout']);
  expect(second).not.toHaveProperty('failures');
});
