import { expect, test } from 'vitest';
import { caseName } from '../break.ts';
import { chooseCases } from './cases.ts';

const breaks = [
  { kind: 'fault', fault: 'stale-subpath-mount', variant: 'secret-active' },
  { kind: 'fault', fault: 'stale-subpath-mount', variant: 'secret-latent' },
  { kind: 'look-alike', fault: 'stale-subpath-mount', variant: 'deleted-by-its-pod' },
] as const;
const namesOf = (args: readonly string[]) => chooseCases(args, breaks).map(caseName);

test('a case is chosen by its name or a prefix of it, and only once', () => {
  expect(namesOf([])).toHaveLength(3);
  expect(namesOf(['stale-subpath-mount/secret-latent'])).toEqual([
    'stale-subpath-mount/secret-latent',
  ]);
  expect(namesOf(['stale', 'stale-subpath-mount/secret-latent'])).toHaveLength(2);
  expect(namesOf(['look-alike'])).toEqual(['look-alike/deleted-by-its-pod']);
});

test('an unknown case is reported with similar names', () => {
  expect(() => namesOf(['stale', 'look-alik3'])).toThrow('did you mean look-alike?');
  expect(() => namesOf(['secret'])).toThrow('stale-subpath-mount/secret-active');
  expect(() => namesOf(['nonsense'])).toThrow('begin with stale-subpath-mount, look-alike');
});
