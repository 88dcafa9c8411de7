import { expect, test } from 'vitest';
import type { Terminal } from '../../../lib/terminal/terminal.ts';
import type { FaultReport, FindingReport, Report } from '../../../node/checkup/report.ts';
import type { FindingState } from '../../../node/model/finding.ts';
import { screenOf } from './screen.ts';

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
      alternatives: [],
      actions: [],
      ...finding,
    })),
  };
}

const benign = (name: string): FaultReport => ({
  ...fault(name, { state: 'benign' }),
  verdict: 'clear',
});

const unknown = (name: string, reason = 'denied'): FaultReport => ({
  ...fault(name),
  verdict: 'unknown',
  reason,
});

function reportOn(...faults: readonly FaultReport[]): Report {
  return {
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Report',
    node: { name: 'worker-7', time: '', kubelet: { presence: 'running' }, tookMs: 1 },
    faults,
  };
}

function screen(...faults: readonly FaultReport[]): string {
  return screenOf(reportOn(...faults), TERMINAL, false);
}

test('findings of several faults are sorted by severity', () => {
  const shown = screen(
    fault('one', { state: 'active' }, { state: 'latent' }),
    fault('two', { state: 'damaged' }),
  );
  expect(heads(shown)).toEqual(['DAMAGED two', 'ACTIVE one', 'LATENT one']);
});

test('a repair that must come first is shown with the reason', () => {
  const waitsFor = [{ fault: 'two', finding: 'abc123', why: 'it deletes files of the node' }];
  const shown = screen(fault('one', { waitsFor, alternatives: [{ command: 'reboot' }] }));
  const first = shown.indexOf('first kubediag recover two --finding abc123');
  expect(first).toBeGreaterThan(0);
  expect(shown).toContain('for it deletes files of the node');
  expect(shown.indexOf('  do    reboot')).toBeGreaterThan(first);
});

const COMMAND =
  'crictl --runtime-endpoint unix:///run/containerd/containerd.sock --timeout 5s version';
const ADVICE = [
  {
    text: 'risk: while it is dead, do not unmount it, not by force either, and do not delete its pod',
  },
  {
    text: 'bring the server back: nas.example:/export/live (nfs4); then the pod recovers by itself',
  },
  {
    text: 'only if the server never comes back, and what was not yet written may then be lost:',
    command: COMMAND,
  },
];

test('sentences of advice are wrapped on a terminal, commands and pipes never are', () => {
  const report = reportOn(fault('one', { alternatives: ADVICE }));
  const lines = screenOf(report, TERMINAL, false).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([`        ${COMMAND}`]);
  expect(lines).toContain(
    '  do    risk: while it is dead, do not unmount it, not by force either, and do',
  );
  expect(lines).toContain('        not delete its pod');
  const piped = screenOf(report, { ...TERMINAL, width: Number.POSITIVE_INFINITY }, false);
  for (const { text } of ADVICE) expect(piped).toContain(text);
  expect(piped).toContain(COMMAND);
});

test('a command that belongs to the sentence above it is no other way', () => {
  const actions = [{ kind: 'unmount' }] as unknown as FindingReport['actions'];
  const shown = screen(fault('one', { actions, alternatives: ADVICE }));
  expect(shown).toContain('        or: only if the server');
  expect(shown).toContain(`        ${COMMAND}\n`);
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

const heads = (shown: string) =>
  shown
    .split('\n')
    .filter((line) => /^[A-Z]+ {2}/.test(line))
    .map((line) => line.split(/ +/).slice(0, 2).join(' '));

const latent = (total: number) =>
  Array.from({ length: total }, (_, at) => ({
    id: `f${at}`,
    state: 'latent' as const,
    subject: { namespace: 'default', pod: `web-${at}` },
  }));

test('many findings of one fault are grouped, and hide no other fault', () => {
  const shown = screen(fault('leftover', ...latent(42)), fault('orphaned', { state: 'latent' }));
  expect(shown.split('\n')[0]).toBe('2 faults, 43 findings: leftover 42, orphaned 1');
  expect(heads(shown)).toEqual(['LATENT leftover', 'LATENT orphaned']);
  expect(shown).toContain('41 more findings like it:');
  expect(shown).toMatch(/^ +FINDING +STATE +POD\n +f1 +latent +default\/web-1\n/m);
  expect(shown).toContain('and 31 more; -v shows each in full');
  expect(shown.split('\n').length).toBeLessThan(40);
});

test('all of them are shown in full where that is wanted', () => {
  const report = reportOn(fault('leftover', ...latent(42)), fault('orphaned', {}));
  const shown = screenOf(report, TERMINAL, true);
  expect(heads(shown)).toHaveLength(43);
  expect(shown).not.toContain('more finding');
});

test('findings of another reason, or that we cannot repair, are not taken for alike', () => {
  const actions = [{ kind: 'unmount' }] as unknown as FindingReport['actions'];
  const shown = screen(fault('one', {}, { reason: 'Other' }, { actions }, {}));
  expect(heads(shown)).toEqual(['ACTIVE one', 'ACTIVE one', 'ACTIVE one']);
  expect(shown).toContain('1 more finding like it:');
});

test('a table of findings alike ends with the command that repairs them all', () => {
  const actions = [{ kind: 'unmount' }] as unknown as FindingReport['actions'];
  const shown = screen(fault('one', { actions }, { actions }));
  expect(shown).toMatch(/^ {2}do {4}kubediag recover one {3}# all of them; asks first$/m);
});

test.each<readonly [string, readonly FaultReport[], string]>([
  ['healthy', [fault('one'), fault('two')], 'no fault found'],
  ['one finding', [fault('one', {}), fault('two')], '1 fault, 1 finding: one 1'],
  [
    'benign findings only',
    [benign('one'), fault('two')],
    'no fault found; 1 benign finding: one 1',
  ],
  [
    'findings and unknown faults',
    [fault('one', {}, { state: 'benign' }), unknown('two'), fault('three')],
    '1 fault, 1 finding: one 1; 1 other fault unknown',
  ],
  [
    'some unknown',
    [unknown('one'), benign('two'), fault('three')],
    'unknown: 1 of 3 faults could not be checked',
  ],
  [
    'all unknown',
    [unknown('one'), unknown('two')],
    'unknown: none of the 2 faults could be checked',
  ],
  ['the only one unknown', [unknown('one')], 'unknown: one could not be checked'],
])('the first line is the answer: %s', (_, faults, expected) => {
  expect(screen(...faults).split('\n')[0]).toBe(expected);
});

test('faults that are unknown for the same reason share it', () => {
  const shown = screen(unknown('one'), unknown('two'), unknown('three', 'other'));
  expect(shown).toContain('unknown  one, two: denied\nunknown  three: other\n');
});

test('below what is clear stands that nothing else was looked for', () => {
  const beyond = 'other faults were not checked';
  const several = screen(fault('one'), fault('two'));
  expect(several).toContain(`clear    one, two\nchecked  the 2 faults named above; ${beyond}\n`);
  expect(screen(fault('one'))).toContain(`checked  the fault named above; ${beyond}\n`);
  expect(screen(unknown('one'))).toContain(`checked  nothing; ${beyond}\n`);
});

test('benign findings alike are one note', () => {
  const all = Array.from({ length: 3 }, () => ({ state: 'benign' as const }));
  const shown = screen({ ...fault('one', ...all), verdict: 'clear' });
  expect(shown.match(/^note/gm)).toHaveLength(1);
  expect(shown).toContain('(and 2 more findings like it: -v)');
});

test('no token is broken on a terminal, and no line in a pipe', () => {
  const path = `/var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d/volumes/${'x'.repeat(60)}`;
  const text = `216 27 254:1 / ${path} rw,relatime shared:1 - ext4 /dev/vda1 rw`;
  const sick = fault('one', {
    summary: `The volume at ${path} does not answer, and many words follow it to fill the line.`,
    proof: [{ claim: 'it is mounted', text, origin: `/proc/812/root${path}` }],
  });
  const narrow = screen(sick);
  expect(
    narrow.split('\n').filter((line) => line.length > 80 && !/^ +(from )?\S+$/.test(line)),
  ).toEqual([]);
  expect(narrow.split(path).length).toBe(4);
  const piped = screenOf(reportOn(sick), { ...TERMINAL, width: Number.POSITIVE_INFINITY }, false);
  expect(piped).toContain(`\n          ${text}\n`);
  expect(piped).toMatch(/^ {2}The volume at .* to fill the line\.$/m);
});

test('a long quote is cut between words, and -v shows more of it', () => {
  const text = Array.from({ length: 150 }, (_, at) => `word${at}`).join(' ');
  const sick = fault('one', { proof: [{ claim: 'it says', text, origin: 'log' }] });
  const words = screen(sick).match(/\bword\d+\b/g) ?? [];
  expect(words.length).toBeLessThan(90);
  expect(words.filter((word) => !text.split(' ').includes(word))).toEqual([]);
  expect(screen(sick)).toMatch(/\[\d+\s+characters left out: -v\]/);
  expect(screenOf(reportOn(sick), TERMINAL, true).match(/\bword\d+\b/g)).toHaveLength(150);
});

test('beside other findings a finding is shown in brief', () => {
  const proof = Array.from({ length: 9 }, (_, at) => ({ claim: `claim ${at}`, origin: 'log' }));
  const one = fault('one', { proof, prevention: ['do it otherwise'] });
  const alone = screen(one);
  expect(alone.match(/claim \d/g)).toHaveLength(8);
  expect(alone).toContain('and 1 more reason: -v');
  expect(alone).toContain('avoid do it otherwise');
  const among = screen(one, fault('two', {}));
  expect(among.match(/claim \d/g)).toHaveLength(4);
  expect(among).toContain('and 5 more reasons: -v');
  expect(among).not.toContain('avoid');
  expect(screenOf(reportOn(one, fault('two', {})), TERMINAL, true)).toContain('claim 8');
});

test('the origin of consecutive proofs is shown once', () => {
  const proof = [
    {
      claim: 'it is there',
      origin: '/a/long/path/that/has/a/line/of/its/own/below/what/it/proves/1',
    },
    {
      claim: 'it is empty',
      origin: '/a/long/path/that/has/a/line/of/its/own/below/what/it/proves/1',
    },
    { claim: 'it is old', origin: '/proc/812/mountinfo:7' },
  ];
  const sick = fault('one', { proof });
  expect(screen(sick).match(/proves\/1/g)).toHaveLength(1);
  expect(screen(sick)).toContain('it is empty\n        it is old');
  expect(screenOf(reportOn(sick), TERMINAL, true).match(/proves\/1/g)).toHaveLength(2);
});
