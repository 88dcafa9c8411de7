import { expect, test } from 'vitest';
import type { FaultReport, FindingReport, Report } from '../checkup/report.ts';
import type { FindingState } from '../model/finding.ts';
import { screenOf } from './screen.ts';
import type { Terminal } from './terminal.ts';

const TERMINAL = { width: 80, style: (_: string, text: string) => text } as unknown as Terminal;

function fault(name: string, ...findings: readonly Partial<FindingReport>[]): FaultReport {
  return {
    name,
    title: name,
    references: [],
    verdict: findings.length > 0 ? 'found' : 'clear',
    findings: findings.map((finding, at) => ({
      id: `${name}-${at}`,
      state: 'active' as FindingState,
      reason: 'Made',
      summary: `${name} is there.`,
      subject: {},
      proof: [],
      blastRadius: '',
      excluded: [],
      otherCures: [],
      actions: [],
      ...finding,
    })),
  };
}

function screen(...faults: readonly FaultReport[]): string {
  const report: Report = {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Report',
    node: { name: 'worker-7', time: '', kubelet: { presence: 'running' }, tookMs: 1 },
    faults,
  };
  return screenOf(report, TERMINAL, false);
}

test('findings of several faults stand by what hurts most', () => {
  const shown = screen(
    fault('one', { state: 'active' }, { state: 'latent' }),
    fault('two', { state: 'damaged' }),
  );
  const heads = shown.split('\n').filter((line) => /^[A-Z]+ {2}/.test(line));
  expect(heads.map((line) => line.split(/ +/).slice(0, 2).join(' '))).toEqual([
    'DAMAGED two',
    'ACTIVE one',
    'LATENT one',
  ]);
});

test('what must be repaired first is told before what to do, and why', () => {
  const waitsFor = [{ fault: 'two', finding: 'abc123', why: 'it deletes files of the node' }];
  const shown = screen(fault('one', { waitsFor, otherCures: ['reboot'] }));
  const first = shown.indexOf('first kubediag recover two --finding abc123');
  expect(first).toBeGreaterThan(0);
  expect(shown).toContain('for it deletes files of the node');
  expect(shown.indexOf('  do    reboot')).toBeGreaterThan(first);
});

test('a long list of what comes first is cut, and says so', () => {
  const waitsFor = Array.from({ length: 9 }, (_, at) => ({
    fault: 'two',
    finding: `f${at}`,
    why: 'it hangs',
  }));
  const shown = screen(fault('one', { waitsFor }));
  expect(shown).toContain('and 6 more findings: -o json');
});

test('of many findings the worst are shown, and how many more there are', () => {
  const many = Array.from({ length: 24 }, () => ({ state: 'latent' as const }));
  const shown = screen(fault('one', ...many), fault('two', { state: 'damaged' }));
  const heads = shown.split('\n').filter((line) => /^[A-Z]+ {2}/.test(line));
  expect(heads).toHaveLength(20);
  expect(heads[0]).toMatch(/^DAMAGED {2}two/);
  expect(shown).toContain('and 5 more findings; all of them: kubediag check -o json');
});
