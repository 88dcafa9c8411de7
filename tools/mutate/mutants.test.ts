import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { filesBelow, TYPESCRIPT } from '../source-files.ts';
import { mutantsOf, withMutants } from './mutants.ts';

const changesOf = (text: string) =>
  mutantsOf({ path: 'src/node/faults/made.ts', text }).map(
    ({ kind, before, after }) => `${kind}: ${before} -> ${after}`,
  );

test.each([
  ['a condition', 'if (isDone) stop();', 'negate condition: isDone -> !(isDone)'],
  ['a comparison', 'export const a = b === c;', 'change operator: b === c -> (b) !== (c)'],
  ['a limit', 'export const a = b < c;', 'change operator: b < c -> (b) <= (c)'],
  ['a time that may be 0', 'export const a = bMs > 0;', 'change operator: bMs > 0 -> (bMs) >= (0)'],
  ['and', 'export const a = b && c;', 'swap && and ||: b && c -> (b) || (c)'],
  ['a default', 'export const a = b ?? c;', 'drop default: b ?? c -> b'],
  ['a place', 'export const a = b[0];', 'change number: 0 -> 1'],
  ['a large number', 'export const a = 5_000;', 'change number: 5_000 -> 0'],
  ['a word', "export const a = 'found';", "change string: 'found' -> 'mutant'"],
  ['a list', 'export const a = [b];', 'empty array: [b] -> []'],
  ['a call', 'stop();', 'drop statement: stop(); -> '],
  ['an answer', 'function f() { return b; }', 'return nothing: return b; -> return undefined;'],
  ['a filter', 'export const a = b.filter(f);', 'drop filter: b.filter(f) -> b'],
  ['some', 'export const a = b.some(f);', 'some to every: b.some(f) -> b.every(f)'],
])('%s is changed', (_, text, expected) => {
  expect(changesOf(text)).toContain(expected);
});

test.each([
  ['the path of an import', "import { a } from './a.ts';"],
  ['a type', "type A = 'found' | 0; let a: A[];"],
  ['the key of an object', "export const a = { 'x-y': b };"],
  ['a sentence, for it is checked elsewhere', "export const a = 'the pod waits';"],
  ['the test of a loop, which would not end', 'while (a < b) { }'],
  ['an entry of a constant list', "export const a = new Set(['b', 7]);"],
  ['the order of two times', 'export const a = b.getTime() < c || ageMs > RECENT_MS;'],
  ['a part of an optional chain', 'export const a = b?.filter(f).length;'],
])('%s is not changed', (_, text) => {
  const changes = changesOf(text).filter((change) => !/^(empty array|swap)/.test(change));
  expect(changes).toEqual([]);
});

test('each mutant changes what it says and nothing else', () => {
  const text = `
    function judge(age, most) {
      const seen = [];
      if (age > most && !(age === 7)) seen.push('old');
      return seen.length > 0 ? 'found' : 'clear';
    }
    judge;`;
  const mutants = mutantsOf({ path: 'src/made.ts', text }).slice(0, -1);
  const all = withMutants(text, new Map(mutants.entries()), 'isActive');
  const run = (script: string, active: number) => {
    const judge = runInNewContext(`const isActive = (n) => n === ${active};${script}`) as (
      age: number,
      most: number,
    ) => string;
    return [0, 1, 2, 7, 8].map((age) => judge(age, 1)).join();
  };
  const asItIs = run(all, -1);
  expect(asItIs).toBe('clear,clear,found,clear,found');
  const unnoticed = mutants.filter(({ start, end, after, form }, index) => {
    const changed = form === 'statement' ? `{${after}}` : `(${after})`;
    const alone = `${text.slice(0, start)}${changed}${text.slice(end)}`;
    const [inAll, byItself] = [run(all, index), run(alone, -1)];
    expect(inAll).toBe(byItself);
    return inAll === asItIs;
  });
  // Only its length is checked.
  expect(unnoticed.map(({ before }) => before)).toEqual(["'old'"]);
});

test('our own sources can be read with all their mutants', () => {
  for (const file of filesBelow(['src/pipeline/graph'], TYPESCRIPT)) {
    const mutants = mutantsOf(file);
    const text = withMutants(file.text, new Map(mutants.entries()), 'isActive');
    expect(() => mutantsOf({ path: file.path, text })).not.toThrow();
  }
});
