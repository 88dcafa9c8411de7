import { expect, test } from 'vitest';
import { faults } from '../../../node/faults/index.ts';
import { blocksOf } from './markdown-blocks.ts';
import { pageOf } from './pages.ts';

test('each block is known by its first line, and has no mark left', () => {
  const page = `# A \`title\`

Text with **weight**, [a link](https://example.org/1)
and [another](../page.md).
- not a list of one item
1. but a list
   that goes on

\`\`\`console
$ one

  two
\`\`\`
    $ three

      four

| code | means |
|---|:--|
| 1 | \`found\` |
`;
  expect(blocksOf(page)).toEqual([
    { is: 'heading', level: 1, text: 'A title' },
    { is: 'text', text: 'Text with weight, a link (https://example.org/1) and another.' },
    {
      is: 'list',
      items: [
        { mark: '-', text: 'not a list of one item' },
        { mark: '1.', text: 'but a list that goes on' },
      ],
    },
    { is: 'code', lines: ['$ one', '', '  two'] },
    { is: 'code', lines: ['$ three', '', '  four'] },
    {
      is: 'table',
      rows: [
        ['code', 'means'],
        ['1', 'found'],
      ],
    },
  ]);
});

test('a fence that nobody closes ends with the page', () => {
  expect(blocksOf('```\na\n')).toEqual([{ is: 'code', lines: ['a', ''] }]);
});

test.each(faults.map(({ id }) => id))('no mark is left of the page of %s', (id) => {
  const texts = blocksOf(pageOf(id)).flatMap((block) => {
    if (block.is === 'code') return [];
    if (block.is === 'table') return block.rows.flat();
    return block.is === 'list' ? block.items.map(({ text }) => text) : [block.text];
  });
  expect(texts.filter((text) => /```|`|\*\*|\]\(|^#|^\|/.test(text))).toEqual([]);
});
