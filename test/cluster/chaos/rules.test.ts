import { describe, expect, it } from 'vitest';
import { overlappingActions } from './journals.ts';
import { wrongChanges } from './slots.ts';

const change = (text: string) => {
  const [name = '', holder = ''] = text.split(' ');
  return { name, holder };
};

describe('slots', () => {
  it.each([
    ['are taken and released', ['0 ', '0 a', '0 a', '0 ', '0 b', '0 '], []],
    ['are not passed on', ['0 a', '0 b'], ['0 passed from a to b']],
    ['are not more than permitted', ['0 a', '1 b'], ['2 slots are held, of 1']],
    ['may have been released while nobody watched', ['0 a', ' ', '0 b'], []],
  ])('%s', (_, changes, wrong) => {
    expect(wrongChanges(changes.map(change), 1)).toEqual(wrong);
  });
});

describe('actions of two nodes', () => {
  const action = (nodeName: string, from: number, to: number) => ({ nodeName, from, to });
  it.each([
    ['one after another', [action('a', 1, 3), action('b', 4, 5)], 0],
    ['at once', [action('a', 1, 3), action('b', 2, 5)], 1],
    ['one within another', [action('a', 1, 9), action('b', 2, 5)], 1],
    ['of the same node', [action('a', 1, 3), action('a', 2, 5)], 0],
  ])('%s', (_, actions, pairs) => {
    expect(overlappingActions(actions)).toHaveLength(pairs);
  });
});
