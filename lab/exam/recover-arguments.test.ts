import { expect, test } from 'vitest';
import { recoverArguments } from './recover-arguments.ts';

const expected = { verdict: 'found', repair: 'done' } as const;
const action = { kind: 'remove-container', container: '0123456789abcdef'.repeat(4) };
const report = { faults: [{ name: 'one', findings: [{ actions: [{}, action] }] }] };

test('the command has the arguments of the break, and the container of the report', () => {
  expect(recoverArguments({ fault: 'one', expected }, report)).toEqual(['recover', 'one', '--yes']);
  const recoverWith = ['--finding', '1', '--confirm', 'CONTAINER'];
  const text = recoverArguments({ fault: 'one', expected: { ...expected, recoverWith } }, report);
  expect(text.slice(3)).toEqual(['--finding', '1', '--confirm', '0123456789abc']);
});
