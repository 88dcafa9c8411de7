import { expect, test } from 'vitest';
import { replayCheck } from '../src/node/checkup/replay.ts';
import type { Report } from '../src/node/checkup/report.ts';
import { faults } from '../src/node/faults/index.ts';
import { fixtureAt } from '../test/fault-fixtures.ts';
import { reportSchema } from './report-schema.ts';

/** As a reader of `-o json` gets it. */
function published(report: Report): unknown {
  return JSON.parse(JSON.stringify(report));
}

test('a node that answers nothing has a report too', async () => {
  const recording = { clock: new Date('2026-01-02T03:04:05Z'), answers: new Map() };
  const silent = { recording, madeBy: 'by hand', tookMs: 0, settings: {} };
  const report = published(await replayCheck(silent, faults, undefined));
  expect(reportSchema.parse(report)).toEqual(report);
  expect(report).toMatchObject({ node: { kubelet: { presence: 'unknown' } } });
});

test.each([
  ['another version', { apiVersion: 'diagnosis.kubediag.org/v2' }],
  ['a verdict that there is not', { faults: [{ verdict: 'maybe' }] }],
  ['no node', { node: undefined }],
])('the schema refuses a report with %s', async (_, change) => {
  const bundle = await fixtureAt('stale-subpath-mount/broken-configmap');
  const report = await replayCheck(bundle, faults, undefined);
  const changed = { ...report, ...change };
  expect(reportSchema.safeParse(changed).success).toBe(false);
});
