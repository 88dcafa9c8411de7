import { expect, test } from 'vitest';
import { faults } from '../../../node/faults/index.ts';
import { pageOf } from './pages.ts';
import { searchPages } from './search-pages.ts';

const pages = faults.map(({ id, title }) => ({ id, title, text: pageOf(id) }));

test.each([
  ['pods stuck Terminating', 'dead-volume-mount', /deleted ones stay Terminating/],
  ['subPath', 'stale-subpath-mount', /volume-subpaths/],
  ['/bin is gone', 'container-without-log-path', /^\/bin is gone\.$/],
  [
    'orphaned pod "0b5cf1de-385c-4e0d" found, but volume paths are still present on disk',
    'orphaned-volume-metadata',
    /volume paths are still present on disk/,
  ],
  ['CrashLoopBackOff', 'stale-subpath-mount', /RunContainerError or CrashLoopBackOff/],
  ['vol_data.json', 'orphaned-volume-metadata', /vol_data\.json/],
  ['kubelet starts slow', 'leftover-volume-directory', /slowly/],
])('of %j the page of %s comes first, with the line that says it', (symptom, id, line) => {
  const [best] = searchPages(symptom, pages);
  expect(best?.id).toBe(id);
  expect(best?.line).toMatch(line);
  expect(best?.line).not.toMatch(/`|\*\*/);
});

test('what all pages speak of is no answer by itself', () => {
  const all = ['one', 'two', 'three'].map((id) => ({
    id,
    title: id,
    text: `# ${id}\n\n## Symptom\n\nThe node is slow.${id === 'two' ? ' It is NotReady.' : ''}\n`,
  }));
  expect(searchPages('node NotReady', all).map(({ id }) => id)).toEqual(['two']);
  expect(searchPages('node not ready', all)).toEqual([
    { id: 'two', title: 'two', section: 'Symptom', line: 'It is NotReady.' },
  ]);
  expect(searchPages('node zebra', all)).toEqual([]);
  expect(searchPages('the of', all)).toEqual([]);
});
