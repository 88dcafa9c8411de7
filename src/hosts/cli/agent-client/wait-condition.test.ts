import { expect, test } from 'vitest';
import { RESULTS } from '../../../pipeline/api/results.ts';
import { AGENT_HELP } from '../command-line/agent-help.ts';
import { waitCondition } from './wait-condition.ts';

test('the first example of wait ends with every result, and not before there is one', () => {
  const [, example = ''] = AGENT_HELP.wait?.examples[0] ?? [];
  const [, text = ''] = /--for=(\S+)/.exec(example) ?? [];
  const condition = waitCondition(text.replaceAll("'", ''));
  const isMet = (status: object) => condition.is === 'object' && condition.isMet({ status });
  for (const result of Object.keys(RESULTS)) expect(isMet({ result }), result).toBe(true);
  for (const phase of ['Pending', 'Running']) expect(isMet({ phase })).toBe(false);
});
