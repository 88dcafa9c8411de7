import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bannedWords } from './banned-words.ts';
import { filesBelow, isGenerated } from './source-files.ts';

// Output of real systems, pages that are generated from checked sources, and the list itself.
const NOT_OURS = /\/fixtures\/.*[.]md$|loose-texts|^docs\/reference\/|sqlite-migrate|banned-words/;
const FOLDERS = ['src', 'lab', 'test', 'tools', 'docs', '.ci'];

function texts() {
  const atRoot = readdirSync('.').filter((name) => name.endsWith('.md'));
  return [
    ...filesBelow(FOLDERS, /[.](ts|tsx|md|sh)$/),
    ...atRoot.map((path) => ({ path, text: readFileSync(path, 'utf8') })),
  ].filter(({ path }) => !isGenerated(path) && !NOT_OURS.test(path));
}

test('no text has a banned word (STYLE.md, "Language")', () => {
  const files = texts();
  expect(files.length).toBeGreaterThan(1000);
  expect(files.flatMap(bannedWords)).toEqual([]);
});

test.each([
  ['a.ts', 'const madeHands = 1;', ['hands']],
  ['a.ts', 'const KEPT_BYTES_MAX = 1; // Stored bytes.', ['kept']],
  ['a.ts', "throw new Error('it cannot be told');", ['told']],
  ['a.md', 'The whole is a new look, and the rest by hand.', ['new look', 'by hand', 'the whole']],
  ['a.md', 'The field `deed` is `description` now.', []],
  ['a.ts', 'handler.lookUp(theWholeFile); // look-alike, housekeeping, whole', []],
])('%s: %s', (path, text, words) => {
  const found = bannedWords({ path, text }).map((place) => /"(.*)"/.exec(place)?.[1]);
  expect(new Set(found)).toEqual(new Set(words));
});
