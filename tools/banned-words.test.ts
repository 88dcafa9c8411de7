import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bannedWords } from './banned-words.ts';
import { filesBelow, isGenerated } from './source-files.ts';

/** How many banned words a file still has. Lower a number or remove a line; never add one. */
const left = JSON.parse(readFileSync('tools/banned-words-left.json', 'utf8')) as Readonly<
  Record<string, number>
>;

const FOLDERS = ['src', 'lab', 'test', 'tools', 'docs', '.ci'];

function texts() {
  const atRoot = readdirSync('.').filter((name) => name.endsWith('.md'));
  return [
    ...filesBelow(FOLDERS, /[.](ts|tsx|md|sh)$/),
    ...atRoot.map((path) => ({ path, text: readFileSync(path, 'utf8') })),
  ].filter(
    // What real systems print is quoted as they print it.
    ({ path }) => !isGenerated(path) && !/\/fixtures\/.*[.]md$|loose-texts|banned-words/.test(path),
  );
}

test('no file has more banned words than before (STYLE.md, "Language")', () => {
  const found = texts().map((file) => ({ path: file.path, places: bannedWords(file) }));
  expect(found.length).toBeGreaterThan(1000);
  const tooMany = found.filter(({ path, places }) => places.length > (left[path] ?? 0));
  expect(tooMany.flatMap(({ places }) => places)).toEqual([]);
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
  expect(found.toSorted()).toEqual(words.toSorted());
});
