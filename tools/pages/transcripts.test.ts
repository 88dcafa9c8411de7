import { expect, test } from 'vitest';
import { withTranscripts } from './transcripts.ts';

const FIXTURE = 'stale-subpath-mount/broken-configmap';
const marked = (command: string, inside = '') =>
  `before\n<!-- transcript: kubediag ${command} | ${FIXTURE} -->\n${inside}<!-- end of transcript -->\nafter\n`;

test('puts what the command prints between the marks, and leaves the rest alone', async () => {
  const page = await withTranscripts('README.md', marked('check'));
  expect(page).toMatch(/^before\n<!-- transcript: kubediag check \| \S+ -->\n\n```console\n/);
  expect(page).toContain('$ kubediag check\n1 fault, 1 finding: stale-subpath-mount 1');
  expect(page).toContain('\nACTIVE  stale-subpath-mount');
  expect(page).toMatch(/```\n\n<!-- end of transcript -->\nafter\n$/);
});

test('replaces what stood there before, and a second time changes nothing', async () => {
  const page = await withTranscripts('README.md', marked('check', 'an old screen\n'));
  expect(page).not.toContain('an old screen');
  expect(await withTranscripts('README.md', page)).toBe(page);
});

test('shows the plan of a recovery without one', async () => {
  const command = 'recover stale-subpath-mount --dry-run';
  const page = await withTranscripts('README.md', marked(command));
  expect(page).toContain('Repairing 1 active finding of stale-subpath-mount will change worker-7:');
});

test('has a margin in the page of a fault, which is itself shown in a terminal', async () => {
  const page = await withTranscripts('src/node/faults/x/README.md', marked('check'));
  const lines = page.split('\n').filter((line) => line.startsWith('    '));
  expect(lines).toContain('    $ kubediag check');
  // A path is never broken.
  const isPath = (line: string) => /^ +(from )?\S+$/.test(line);
  expect(lines.filter((line) => line.length > 78 && !isPath(line))).toEqual([]);
});

test.each([
  ['a command of which none can be made', marked('journal'), 'kubediag journal'],
  ['a fault that there is not', marked('recover no-such --dry-run'), 'no such fault'],
  ['a mark that is not ended', marked('check').replace('end of', 'ends'), 'has no other end'],
])('refuses %s', async (_, text, why) => {
  await expect(withTranscripts('README.md', text)).rejects.toThrow(why);
});
