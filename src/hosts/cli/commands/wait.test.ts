import { expect, test } from 'vitest';
import { RESULTS } from '../../../pipeline/api/results.ts';
import { agentCommands } from '../command-line/agent-commands.ts';
import { waitCondition } from './wait.ts';

test('the first example of wait ends with every result, and not before there is one', () => {
  const noAgent = async () => expect.fail('nothing is run here');
  const wait = agentCommands(noAgent).find(({ name }) => name === 'wait');
  const [, example = ''] = wait?.examples[0] ?? [];
  const [, text = ''] = /--for=(\S+)/.exec(example) ?? [];
  const condition = waitCondition(text.replaceAll("'", ''));
  const isMet = (status: object) => condition.is === 'object' && condition.isMet({ status });
  for (const result of Object.keys(RESULTS)) expect(isMet({ result }), result).toBe(true);
  for (const phase of ['Pending', 'Running']) expect(isMet({ phase })).toBe(false);
});
