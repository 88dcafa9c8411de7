import { readFileSync } from 'node:fs';
import { tableOf } from './markdown.ts';
import { type TestName, weaknesses } from './weaknesses.ts';

/** docs/reference/weaknesses.md. A test that is no longer there is an error. */
export function weaknessesPage(): string {
  return [
    '# What cannot happen here\n',
    'Released versions of KubeDiag had these weaknesses. A test for each shows that this version does not.\n',
    ...Object.entries(weaknesses).flatMap(([title, each]) => [
      `## ${title}\n`,
      tableOf(
        ['it happened', 'shown by'],
        each.map(([was, ...shownBy]) => [was, shownBy.map(linked).join('; ')]),
      ),
    ]),
  ].join('\n');
}

function linked([file, title]: TestName): string {
  const path = file.startsWith('test/') ? file : `src/${file}`;
  if (!readFileSync(path, 'utf8').includes(`'${title}`)) {
    throw new Error(`${path} has no test that begins with "${title}"`);
  }
  return `[${title}](../../${path})`;
}
