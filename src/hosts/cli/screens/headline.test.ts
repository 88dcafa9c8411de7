import { expect, test } from 'vitest';
import type { FaultReport, Report } from '../../../node/checkup/report.ts';
import { headlineOf, withoutDenials } from './headline.ts';

function reportOf(...faults: readonly Partial<FaultReport>[]): Report {
  const common = { title: '', references: [], verdict: 'unknown', findings: [] } as const;
  return {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Report',
    node: { name: 'worker-7', time: '', kubelet: { presence: 'unknown' }, tookMs: 1 },
    faults: faults.map((fault, index) => ({ ...common, name: `fault-${index}`, ...fault })),
  };
}

const DENIED = { reason: 'not permitted to connect', failures: ['timeout', 'denied'] } as const;

test('a denied read is reported as missing root, whatever its message says', () => {
  const shown = withoutDenials(reportOf(DENIED), false);
  expect(shown.faults[0]?.reason).toBe('not root (details: -o json)');
  expect(headlineOf(shown).text).toBe('unknown: fault-0 could not be checked; not root: use sudo');
});

test.each<[string, Partial<FaultReport>]>([
  ['a log line', { reason: 'the log says: rename /a: permission denied' }],
  ['another failure', { reason: '/x: permission denied', failures: ['malformed'] }],
  ['a fault that was found', { ...DENIED, verdict: 'found' }],
  ['our own words', { reason: 'not root (details: -o json)' }],
])('%s does not ask for root', (_, fault) => {
  const shown = withoutDenials(reportOf(fault), false);
  expect(shown.faults[0]?.reason).toBe(fault.reason);
  expect(headlineOf(shown).text).not.toContain('not root');
});

test('root gets every reason as it is', () => {
  const report = reportOf(DENIED);
  expect(withoutDenials(report, true)).toBe(report);
  expect(headlineOf(report).text).toBe('unknown: fault-0 could not be checked');
});
