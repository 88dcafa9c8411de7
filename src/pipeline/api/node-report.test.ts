import { expect, test } from 'vitest';
import {
  REPORTED_FINDINGS_MAX,
  REPORTED_PROOF_MAX,
  REPORTED_TEXT_MAX,
  REPORTED_UNKNOWNS_MAX,
} from './limits.ts';
import { type NodeReportStatus, nodeReportStatus } from './node-report.ts';

const line = 'a'.repeat(REPORTED_TEXT_MAX);
const time = '2026-01-02T03:04:05Z';
const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

const words = { fault: line, id: line, state: line, reason: line, summary: line };
const subject = {
  namespace: line,
  pod: line,
  podUid: line,
  container: line,
  volume: line,
  mount: line,
  path: line,
};
const proof = many(REPORTED_PROOF_MAX, { claim: line, text: line, origin: line });

const largest: NodeReportStatus = {
  state: 'damaged',
  checkTime: time,
  durationMilliseconds: 1_234,
  counts: { findings: 11, damaged: 11, active: 0, latent: 0, benign: 0, unknowns: 11 },
  findings: many(REPORTED_FINDINGS_MAX, { ...words, subject, proof, since: time }),
  findingsNotListed: 1,
  unknowns: many(REPORTED_UNKNOWNS_MAX, { fault: line, message: line }),
  unknownsNotListed: 1,
  kubeletVersion: 'v1.36.3',
  runtimeVersion: 'containerd://1.6.20',
  kubediagVersion: '0.1.0',
};

test('the largest report is valid, and 1,000 of them fit into etcd', () => {
  expect(nodeReportStatus.parse(largest)).toEqual(largest);
  // Its quota is 2 GB by default.
  expect(JSON.stringify(largest).length * 1_000).toBeLessThan(500_000_000);
});

test.each<[string, NodeReportStatus]>([
  ['findings', { findings: many(REPORTED_FINDINGS_MAX + 1, words) }],
  ['unknowns', { unknowns: many(REPORTED_UNKNOWNS_MAX + 1, { fault: 'a', message: 'b' }) }],
  ['lines of proof', { findings: [{ ...words, proof: [...proof, ...proof] }] }],
  ['characters', { kubeletVersion: `${line}a` }],
])('a report has a limit of %s', (_, status) => {
  expect(nodeReportStatus.safeParse(status).success).toBe(false);
});
