import { expect, test } from 'vitest';
import { processors } from './catalogue.ts';
import { noteUnused } from './run-operation.ts';

const processor = { writes: ['a.result'], unused: { 'param.pid': 'no process is touched' } };
const done = { succeeded: true, results: { 'a.result': 'x' } } as const;

test('reports a key without effect beside the result, or the failure', () => {
  const given = { 'param.pid': '7' };
  const text = 'param.pid is not used: no process is touched';
  expect(noteUnused(processor, given, done)).toEqual({
    succeeded: true,
    results: { 'a.result': 'x', 'a.result.note': text },
  });
  expect(noteUnused(processor, given, { succeeded: false, message: 'why' })).toEqual({
    succeeded: false,
    message: `why; ${text}`,
  });
});

test('reports nothing without such a key', () => {
  expect(noteUnused(processor, { 'param.other': '1', 'param.pid': '' }, done)).toBe(done);
});

test('no processor lists a key as unused that it reads', () => {
  for (const { reads, readsElse = [], mayRead = [], unused = {} } of processors) {
    const used = [...reads, ...readsElse, ...mayRead];
    expect(Object.keys(unused).filter((key) => used.includes(key))).toEqual([]);
  }
});
