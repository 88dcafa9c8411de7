import { expect, test } from 'vitest';
import { ageText, columnsOf } from './columns.ts';
import { kinds } from './kinds.ts';

const NOW = new Date('2026-11-15T12:00:00Z');

test.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [192, '3m12s'],
  [600, '10m'],
  [10_799, '179m'],
  [10_800, '3h'],
  [11_000, '3h3m'],
  [30_000, '8h'],
  [180_000, '2d2h'],
  [172_800, '2d'],
  [864_000, '10d'],
  [70_000_000, '2y80d'],
  [-5, '0s'],
])('what is %i s old is shown as %s', (seconds, text) => {
  expect(ageText(new Date(NOW.getTime() - seconds * 1_000).toISOString(), NOW)).toBe(text);
});

test('a row has the name first, then what the kind shows; what is not there is empty', () => {
  const kind = kinds.find((each) => each.kind === 'OperationSet');
  const columns = columnsOf(kind ?? { columns: [] });
  const object = { metadata: { name: 'set', creationTimestamp: '2026-11-15T11:59:00Z' } };
  expect(columns.map(({ name }) => name)).toEqual(['Name', 'Ready', 'Age']);
  expect(columns.map(({ cellOf }) => cellOf(object, NOW))).toEqual(['set', '', '60s']);
  const ready = { ...object, status: { ready: true } };
  expect(columns[1]?.cellOf(ready, NOW)).toBe(true);
});

test('a row of the usual names of a Diagnosis fits into 120 columns', () => {
  const row = {
    metadata: { name: 'stale-subpath-mount-7x2kq', creationTimestamp: '2026-11-15T11:56:48Z' },
    spec: { operationSet: 'stale-subpath-mount', nodeName: 'ip-10-0-13-207.ec2.internal' },
    status: { phase: 'Succeeded', result: 'NothingFound' },
  };
  const kind = kinds.find((each) => each.kind === 'Diagnosis');
  const columns = columnsOf(kind ?? { columns: [] }).filter(({ priority }) => priority === 0);
  const cells = columns.map(({ name, cellOf }) =>
    Math.max(name.length, String(cellOf(row, NOW)).length),
  );
  expect(cells.reduce((sum, width) => sum + width + 3, -3)).toBeLessThanOrEqual(120);
});
