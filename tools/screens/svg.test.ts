import { expect, test } from 'vitest';
import { svgOf } from './svg.ts';

test('a picture has each text in its place and its colour, and nothing that is markup', () => {
  const svg = svgOf('kubediag check', '\x1b[31m\x1b[1mACTIVE\x1b[22m\x1b[39m  a <b> & "c"\n');
  const texts = [
    ...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"[^>]*?( class="[^"]*")?>([^<]*)</g),
  ];
  expect(texts.map(([, , , style = '', text]) => `${text}${style}`)).toEqual([
    '$ class="dim"',
    'kubediag check',
    'ACTIVE class="red bold"',
    'a &lt;b> &amp; &quot;c&quot;',
  ]);
  const [dollar, , active, rest] = texts.map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
  expect(active?.x).toBe(dollar?.x);
  expect(active?.y).toBeGreaterThan(dollar?.y ?? 0);
  // Eight columns further to the right.
  expect(rest?.x).toBeCloseTo((active?.x ?? 0) + 8 * 7.8, 1);
});
