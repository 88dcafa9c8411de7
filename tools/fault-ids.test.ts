import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, test } from 'vitest';
import { faults } from '../src/node/faults/index.ts';

const PROJECT = join(import.meta.dirname, '..');

/** Where an id is data: the fault itself, what makes it in the lab, and tests. */
const OF_A_FAULT = /^src\/node\/faults\/[a-z-]+\/|^lab\/breaks\/|\.test\.ts$/;

/** Examples of commands, for a person to read. */
const EXAMPLES =
  /^(?:src\/hosts\/cli\/command-line|lab)\/(?:[a-z-]+-)?(?:commands|up|served-lines)\.ts$/;

/** The texts of a source file in which one of the ids stands; comments are none. */
function namedIn(source: string, ids: readonly string[]): readonly string[] {
  const texts: string[] = [];
  new Visitor({
    Literal: ({ value }) => void texts.push(String(value)),
    TemplateElement: ({ value }) => void texts.push(value.raw),
  }).visit(parseSync('a.ts', source).program);
  // An import of a file is no use of its id.
  return texts.filter((text) => !text.endsWith('.ts') && ids.some((id) => text.includes(id)));
}

test('an id in a text is seen, and one in a comment or an import is not', () => {
  const source =
    "// a-b\nimport { x } from './a-b/fault.ts';\nf('a-b');\ng(`do a-b`);\nh('a-c');\n";
  expect(namedIn(source, ['a-b'])).toEqual(['a-b', 'do a-b']);
});

test('no file outside of a fault names it: all that is special to it is declared in its directory', () => {
  const ids = faults.map(({ id }) => id);
  const files = globSync('{src,lab}/**/*.ts', { cwd: PROJECT }).filter(
    (file) => !OF_A_FAULT.test(file),
  );
  expect(files.length).toBeGreaterThan(300);
  const named = files
    .filter((file) => !EXAMPLES.test(file))
    .flatMap((file) =>
      namedIn(readFileSync(join(PROJECT, file), 'utf8'), ids).map((text) => `${file}: ${text}`),
    );
  expect(named).toEqual([]);
});
