import { leftoverName } from '../../src/node/evidence/volumes/leftover-names.ts';
import { entriesIn, foldersIn } from '../../src/node/reader/answer-folders.ts';

/**
 * Scans for leftover directories as the reader does, once, and prints how long the names took and what
 * they are, in milliseconds: `scan-leftovers FOLDER`.
 */
const [path = ''] = process.argv.slice(2);
const begun = performance.now();
const folders = foldersIn({ path, levels: ['*', 'volumes', '*'] }, '/');
const found = folders.map(({ folder, names }) => ({
  folder,
  names: names.filter((name) => leftoverName(name)),
}));
const namesMs = performance.now() - begun;
for (const { folder, names } of found) entriesIn({ path: `${path}/${folder}`, names }, '/');
const entriesMs = performance.now() - begun - namesMs;
const count = found.reduce((sum, { names }) => sum + names.length, 0);
process.stdout.write(JSON.stringify({ namesMs, entriesMs, count }));
