import { expect, test } from 'vitest';
import { nodes } from '../../../../test/faults/kubelet-not-running.ts';
import { hostOn } from '../../../../test/synthetic-host.ts';
import { nodeNamed } from '../../../../test/synthetic-node.ts';
import { makeReport } from '../../../node/checkup/make-report.ts';
import { runCheck } from '../../../node/checkup/run-check.ts';
import { faults } from '../../../node/faults/index.ts';
import { kubeletNotRunning } from '../../../node/faults/kubelet-not-running/fault.ts';
import { resolvConfOverLimit } from '../../../node/faults/resolv-conf-over-limit/fault.ts';
import type { Finding } from '../../../node/model/finding.ts';
import { verdictOf } from '../../../node/model/verdict.ts';
import { CHECKED_DETAILS_MAX, CHECKED_FINDINGS_MAX } from '../../../pipeline/channel/limits.ts';
import { nodeCheck } from '../../../pipeline/channel/node-check.ts';
import { nodeCheckOf } from './node-check-of.ts';

const NOW = new Date('2026-11-16T10:00:00Z');

test('a check has what was found and what could not be determined', async () => {
  const { node, listener } = hostOn(nodeNamed('active-crashed', nodes()).build());
  const { report, judged } = await runCheck(
    node,
    { faults, settings: {}, timeoutMs: 5_000 },
    listener,
  );
  const check = nodeCheckOf(report, judged, '0.1.0', NOW);
  expect(nodeCheck.parse(check)).toEqual(check);
  expect(check).toMatchObject({
    time: NOW.toISOString(),
    findings: [
      {
        fault: 'kubelet-not-running',
        state: 'active',
        detail: {
          reason: 'KubeletCrashed',
          summary: expect.stringContaining('kubelet'),
          manualStep: expect.stringMatching(/\S/),
        },
      },
    ],
  });
  expect(check.faults.map(({ fault }) => fault).toSorted()).toEqual(
    faults.map(({ id }) => id).toSorted(),
  );
  // A synthetic node answers only what its fault asks.
  const unknown = check.faults.filter(({ verdict }) => verdict === 'unknown');
  expect(new Set(check.unknowns.map(({ fault }) => fault))).toEqual(
    new Set(unknown.map(({ fault }) => fault)),
  );
});

test('what a person can do is the first step, with its risk', () => {
  const finding: Finding = {
    ...{ state: 'active', reason: 'Made', summary: 'It is broken.', subject: {}, proof: [] },
    ...{ blastRadius: '', excluded: [], pins: {} },
    alternatives: [
      { text: 'risk: pods restart' },
      { text: 'Restart it:', command: 'systemctl restart it' },
      { text: 'Look at its log.' },
    ],
  };
  const judged = [
    { fault: resolvConfOverLimit, verdict: verdictOf({ findings: [finding], unknowns: [] }) },
  ];
  const kubelet = { presence: 'running' } as const;
  const report = makeReport({ name: 'web', time: '', kubelet, tookMs: 12 }, judged);
  expect(nodeCheckOf(report, judged, '0.1.0', NOW).findings[0]?.detail?.manualStep).toBe(
    'Restart it: systemctl restart it (risk: pods restart)',
  );
});

test('a check with too much in it is cut, and says so', () => {
  const long = 'x'.repeat(5_000);
  const findings = Array.from(
    { length: CHECKED_FINDINGS_MAX + 5 },
    (_, index): Finding => ({
      state: index === CHECKED_FINDINGS_MAX ? 'damaged' : 'latent',
      reason: 'Made',
      summary: long,
      subject: { path: long },
      proof: Array.from({ length: 9 }, () => ({ claim: long, text: long, origin: { file: long } })),
      blastRadius: '',
      excluded: [],
      alternatives: [],
      pins: { index },
    }),
  );
  const unknowns = Array.from({ length: 30 }, (_, index) => ({
    why: `${long}${index}`.slice(-4_000),
    subject: { pod: `web-${index}` },
  }));
  const verdict = verdictOf({ findings, unknowns });
  const { recover: _, ...fault } = kubeletNotRunning;
  const judged = [{ fault, verdict }];
  const kubelet = { presence: 'running', version: long } as const;
  const report = makeReport({ name: 'web', time: '', kubelet, tookMs: 12 }, judged);
  const check = nodeCheckOf(report, judged, '0.1.0', NOW);
  expect(nodeCheck.parse(check)).toEqual(check);
  expect(check.findings).toHaveLength(CHECKED_FINDINGS_MAX);
  expect(check.findings[0]?.state).toBe('damaged');
  expect(check.findings.filter(({ detail }) => detail)).toHaveLength(CHECKED_DETAILS_MAX);
  expect(check.faults).toMatchObject([{ verdict: 'found', notListed: 5 }]);
  expect(check.unknowns).toHaveLength(10);
  expect(check.unknowns.at(-1)).toEqual({
    fault: 'kubelet-not-running',
    message: '21 more that could not be determined',
  });
  expect(JSON.stringify(check).length).toBeLessThan(512 * 1024);
});
