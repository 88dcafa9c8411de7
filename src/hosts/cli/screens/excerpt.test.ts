import { expect, test } from 'vitest';
import { excerpt } from './excerpt.ts';

const clause = (at: number) => `this kind of dump ${at} has no times`;
const clauses = (total: number) => Array.from({ length: total }, (_, at) => clause(at)).join('; ');

test('a text that is hardly too long is shown whole', () => {
  const text = clauses(10);
  for (const less of [1, 10, 40, 79]) {
    expect(excerpt(text, text.length - less, '-v')).toBe(text);
  }
});

test('a longer one is cut between clauses, and gets shorter by it', () => {
  const text = clauses(20);
  for (let most = 100; most < text.length - 200; most += 7) {
    const shown = excerpt(text, most, '-v');
    const [begin = '', end = ''] = shown.split(/ \[\d+ characters left out: -v\] /);
    expect(shown.length).toBeLessThan(text.length - 40);
    expect(begin).toMatch(/times;$/);
    expect(end).toMatch(/^this kind/);
    expect(text.startsWith(begin) && text.endsWith(end)).toBe(true);
  }
});

test('the number of characters left out is right', () => {
  const text = clauses(20);
  const shown = excerpt(text, 300, '-v');
  const [, begin = '', left = '', end = ''] = /^(.*) \[(\d+) .*?\] (.*)$/.exec(shown) ?? [];
  expect(begin.length + 1 + Number(left) + end.length).toBe(text.length);
});

test('a text without clauses is cut between its words, and a single word is not cut', () => {
  const words = Array.from({ length: 150 }, (_, at) => `word${at}`).join(' ');
  expect(excerpt(words, 300, '-v')).toMatch(/^word0 .* word\d+ \[\d+ [^\]]*\] word\d+ .* word149$/);
  expect(excerpt('x'.repeat(1_000), 300, '-v')).toBe('x'.repeat(1_000));
});
