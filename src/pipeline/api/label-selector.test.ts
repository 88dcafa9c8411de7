import { expect, test } from 'vitest';
import { matchesLabels, selectorProblem, selectorText } from './label-selector.ts';

const expression = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', ...values: string[]) => ({
  matchExpressions: [{ key: 'tier', operator, ...(values.length > 0 ? { values } : {}) }],
});

// As `kubectl get nodes -l` with the text selects them.
test.each([
  ['', {}, true, true, true],
  ['tier=web', { matchLabels: { tier: 'web' } }, true, false, false],
  ['tier in (web,db)', expression('In', 'web', 'db'), true, true, false],
  ['tier notin (db)', expression('NotIn', 'db'), true, false, true],
  ['tier', expression('Exists'), true, true, false],
  ['!tier', expression('DoesNotExist'), false, false, true],
  [
    'tier=web,tier notin (db)',
    { matchLabels: { tier: 'web' }, ...expression('NotIn', 'db') },
    true,
    false,
    false,
  ],
])('"%s"', (text, selector, web, db, none) => {
  expect(selectorText(selector)).toBe(text);
  expect(selectorProblem(selector)).toBeUndefined();
  expect(matchesLabels(selector, { tier: 'web' })).toBe(web);
  expect(matchesLabels(selector, { tier: 'db' })).toBe(db);
  expect(matchesLabels(selector, {})).toBe(none);
});

test('accepts the longest names', () => {
  const prefix = [63, 63, 63, 61].map((length) => 'p'.repeat(length)).join('.');
  const matchLabels = { [`${prefix}/${'t'.repeat(63)}`]: 'w'.repeat(63) };
  expect(selectorProblem({ matchLabels })).toBeUndefined();
});

test.each([
  [expression('In'), 'operator In of tier needs values'],
  [expression('Exists', 'a'), 'operator Exists of tier has no values'],
  [expression('NotIn', 'a,b'), '"a,b" is not a valid value of label tier'],
  [{ matchLabels: { tier: 'web)' } }, '"web)" is not a valid value of label tier'],
  [{ matchLabels: { 'a=b': '' } }, '"a=b" is not a valid key of a label'],
  [
    { matchLabels: { tier: 'w'.repeat(64) } },
    `"${'w'.repeat(64)}" is not a valid value of label tier`,
  ],
  [{ matchLabels: { ['t'.repeat(64)]: '' } }, `"${'t'.repeat(64)}" is not a valid key of a label`],
  [{ matchLabels: { 'a..b/tier': '' } }, '"a..b/tier" is not a valid key of a label'],
])('refuses %j', (selector, why) => {
  expect(selectorProblem(selector)).toBe(why);
});
