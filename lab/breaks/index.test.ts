import { expect, test } from 'vitest';
import { caseName } from '../break.ts';
import { breaks } from './index.ts';

test('every break has a unique name that a user can type', () => {
  const names = breaks.map(caseName);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9-]+\/[a-z0-9-]+$/);
  const lookAlikes = breaks.filter(({ kind }) => kind === 'look-alike');
  // Faults come before look-alikes, and the name of a look-alike is only its variant.
  expect(breaks.slice(-lookAlikes.length)).toEqual(lookAlikes);
});

test('a look-alike expects neither a finding nor a repair', () => {
  for (const { kind, expected } of breaks) {
    if (kind === 'look-alike') expect(expected).toMatchObject({ verdict: 'clear', repair: 'none' });
    else expect(expected.verdict === 'clear').toBe(expected.state === 'benign');
  }
});

test('only a repair that is done has required changes', () => {
  for (const { expected } of breaks) {
    const { repair, must = [], changes = [] } = expected;
    if (repair === 'done') expect(must.length).toBeGreaterThan(0);
    else expect([...must, ...changes]).toEqual([]);
    for (const start of [...must, ...changes]) expect(start).toMatch(/^[-+] [a-z]+ \S/);
  }
});

test('the description of a break is one sentence without a full stop', () => {
  for (const { about } of breaks) expect(about).toMatch(/^[a-z`"0-9][^.]*[^.]$/);
});
