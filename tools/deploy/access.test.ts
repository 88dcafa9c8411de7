import { expect, test } from 'vitest';
import { access } from './access.ts';

test('no rule has a wildcard, a Secret, or a way into pods', () => {
  const rules = access.flatMap(({ object }) => ('rules' in object ? [object.rules] : [])).flat();
  expect(rules.length).toBeGreaterThan(5);
  expect(JSON.stringify(rules)).not.toMatch(/"[*]"|secrets|pods\/|proxy|impersonate|escalate|bind/);
});
