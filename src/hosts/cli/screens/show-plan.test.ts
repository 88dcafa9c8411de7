import { describe, expect, test } from 'vitest';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { Finding } from '../../../node/model/finding.ts';
import { chooseFindings } from '../recovery/choose-findings.ts';
import { showLeft, showManual, showPlan } from './show-plan.ts';

const finding = (at: number, change: Partial<Finding> = {}): Finding => ({
  state: 'latent',
  reason: 'LeftoverStays',
  summary: `shop/web-${at} has a leftover volume directory.`,
  subject: { namespace: 'shop', pod: `web-${at}`, podUid: `uid-${at}` },
  proof: [],
  blastRadius: '',
  excluded: [],
  alternatives: [{ command: 'rmdir it' }],
  pins: { at },
  ...change,
});

/** A fault that repairs what is not manual, and wants a word for pod 7. */
const fault = {
  id: 'leftover-volume-directory',
  recover: ({ subject, reason }: Finding) => ({
    actions:
      reason === 'Manual'
        ? []
        : [
            {
              kind: 'unmount',
              id: 1,
              parent: 1,
              device: '0:1',
              root: '/',
              target: `/x/${subject.pod}`,
            },
          ],
    touches: `one directory of ${subject.pod}`,
    leaves: 'all else',
    ...(subject.pod === 'web-7' ? { confirmation: { why: 'it may live', word: 'uid-7' } } : {}),
  }),
} as unknown as AnyFault;

const looked = { report: { node: { name: 'worker-7' } }, judged: [] } as never;

function shown(show: (terminal: Terminal) => void): string {
  const written: string[] = [];
  show({ out: (text: string) => void written.push(text), width: 80 } as unknown as Terminal);
  return written.join('');
}

describe('the plan of a recovery from 42 findings', () => {
  const findings = Array.from({ length: 42 }, (_, at) => finding(at));

  test('begins with the fault, shows one finding, and names the others', () => {
    const plan = shown((terminal) => showPlan({ fault, findings }, looked, terminal));
    expect(plan.split('\n')[0]).toBe(
      'Repairing 42 latent findings of leftover-volume-directory will change worker-7:',
    );
    expect(plan.split('\n').length).toBeLessThan(65);
    expect(plan).toContain('40 more findings like it, repaired in the same way');
    for (const { subject } of findings) expect(plan).toContain(`shop/${subject.pod}`);
    expect(plan.match(/^leaves/gm)).toHaveLength(1);
  });

  test('shows each that needs its own confirmation', () => {
    const plan = shown((terminal) => showPlan({ fault, findings }, looked, terminal));
    expect(plan).toContain('--confirm uid-7');
    expect(plan.match(/^touches/gm)).toHaveLength(2);
  });

  test('shows all of them if that is wanted', () => {
    const plan = shown((terminal) => showPlan({ fault, findings }, looked, terminal, true));
    expect(plan.match(/^touches/gm)).toHaveLength(42);
  });
});

test('what is left, and what only a person can repair, names every finding', () => {
  const findings = Array.from({ length: 9 }, (_, at) => finding(at, { reason: 'Manual' }));
  for (const text of [
    shown((terminal) => showLeft({ fault, findings }, 'a hint', terminal)),
    shown((terminal) => showManual({ fault, findings }, terminal)),
  ]) {
    expect(text).toContain('8 more findings like it');
    for (const { subject } of findings) expect(text).toContain(`shop/${subject.pod}`);
  }
});

test('of what only a person can do, sentences are wrapped and commands are not', () => {
  const command = `kubectl --namespace shop delete pod ${'x'.repeat(80)}`;
  const risk = `risk: ${'what was not yet written is lost, '.repeat(4)}`;
  const alternatives = [{ text: risk }, { command }];
  const findings = [finding(0, { reason: 'Manual', alternatives })];
  const lines = shown((terminal) => showManual({ fault, findings }, terminal)).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([`        ${command}`]);
});

test('a position is that of the screen, which has findings alike together', () => {
  const findings = [finding(0), finding(1, { reason: 'Other' }), finding(2)];
  const verdict = { state: 'found', findings, unknowns: [] };
  const seen = { report: {}, judged: [{ fault, verdict }] } as never;
  expect(chooseFindings(fault, seen, { finding: '2' })).toMatchObject({ taken: [findings[2]] });
  expect(chooseFindings(fault, seen, { finding: '3' })).toMatchObject({ taken: [findings[1]] });
});
