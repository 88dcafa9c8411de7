import { expect, test } from 'vitest';
import { printable } from '../std/printable.ts';
import { wrapQuote, wrapText } from './wrap.ts';

test('a sentence breaks between words, and fits', () => {
  const lines = wrapText('one two three four', 9);
  expect(lines).toEqual(['one two', 'three', 'four']);
});

const PATH = '/var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d/volume-subpaths/a/b/1';

test.each([wrapQuote, wrapText])('%o never breaks a path or an id', (wrap) => {
  const text = `mount 216 of ${PATH} is of container 1ca1a8b5, which is gone by now`;
  const lines = wrap(text, 30);
  expect(lines.join(' ')).toBe(text);
  expect(lines).toContain(PATH);
  expect(lines.filter(({ length }) => length > 30)).toEqual([PATH]);
});

test('a quoted line preserves its spaces, and breaks nowhere without a limit', () => {
  const text = `216  27   254:1 ${PATH}  rw`;
  expect(wrapQuote(text, Number.POSITIVE_INFINITY)).toEqual([text]);
  expect(wrapQuote(text, 10)).toEqual(['216  27', '254:1', PATH, 'rw']);
});

test('text of a node cannot move the cursor, change colours or reverse the text direction', () => {
  expect(printable('a\x1b[31mb\x07\r\u202ec\udcff\u2028')).toBe(
    'a\\x1b[31mb\\x07\\x0d\\x202ec\\xff\\x2028',
  );
  expect(printable('two\nlines\tand a tab')).toBe('two lines and a tab');
  expect(printable('smörgås 容器 😀')).toBe('smörgås 容器 😀');
});

test.each([
  ['a mark that turns what follows', '\u200e', '\\x200e'],
  ['a mark that turns what follows', '\u200f', '\\x200f'],
  ['a mark that turns what follows', '\u061c', '\\x61c'],
  ['an embedding that turns it', '\u202b', '\\x202b'],
  ['an isolate that turns it', '\u2067', '\\x2067'],
  ['a space of no width', '\ufeff', '\\xfeff'],
  ['a space of no width', '\u200b', '\\x200b'],
  ['a hyphen that is seen at the end of a line only', '\u00ad', '\\xad'],
  ['a letter that nobody sees', '\u{e0041}', '\\xe0041'],
])('a name cannot hide %s: %j', (_, character, shown) => {
  expect(printable(`web${character}-0`)).toBe(`web${shown}-0`);
});
