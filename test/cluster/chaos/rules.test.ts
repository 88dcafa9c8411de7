import { describe, expect, it } from 'vitest';
import { actsAtOnce } from './journals.ts';
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
  const act = (nodeName: string, from: number, to: number) => ({ nodeName, from, to });
  it.each([
    ['one after another', [act('a', 1, 3), act('b', 4, 5)], 0],
    ['at once', [act('a', 1, 3), act('b', 2, 5)], 1],
    ['one within another', [act('a', 1, 9), act('b', 2, 5)], 1],
    ['of the same node', [act('a', 1, 3), act('a', 2, 5)], 0],
  ])('%s', (_, acts, pairs) => {
    expect(actsAtOnce(acts)).toHaveLength(pairs);
  });
});
