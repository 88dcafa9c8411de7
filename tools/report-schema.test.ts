import { expect, test } from 'vitest';
import { replayCheck } from '../src/node/checkup/replay.ts';
import type { Report } from '../src/node/checkup/report.ts';
import { faults } from '../src/node/faults/index.ts';
import { fixturesOf, judgedFixture } from './pages/recorded-nodes.ts';
import { reportSchema } from './report-schema.ts';

/** As a reader of `-o json` gets it. */
function published(report: Report): unknown {
  return JSON.parse(JSON.stringify(report));
}

const fixtures = faults.flatMap(fixturesOf);

test('there are recorded nodes to hold the schema against', () => {
  expect(fixtures.length).toBeGreaterThan(20);
});

test.each(fixtures)(
  'the report of %s is what the schema says, and nothing more',
  async (folder) => {
    const report = published((await judgedFixture(folder)).report);
    // Fields that the schema does not know would be missing from what it gives back.
    expect(reportSchema.parse(report)).toEqual(report);
  },
);

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
  const [folder = ''] = fixtures;
  const { report } = await judgedFixture(folder);
  const changed = { ...report, ...change };
  expect(reportSchema.safeParse(changed).success).toBe(false);
});
