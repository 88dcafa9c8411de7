import { expect, test } from 'vitest';
import { HABITS } from './breaks/kubelet-habits.ts';
import { TOUR_STOPS } from './tour.ts';
import {
  commandLines,
  headingLines,
  introLines,
  kubeletLines,
  shortPage,
  storyLines,
} from './tour-lines.ts';

const settings = {
  name: 'tour',
  mountNamespace: 'mnt:[1]',
  kubelet: { kind: 'stand-in', version: 'v1.18.8' },
  runtime: { kind: 'stand-in', why: 'none here' },
} as const;
const screen = { width: 80, style: (_: string, text: string) => text };

test('every stop of the tour shows a fault that the lab makes and KubeDiag repairs', () => {
  expect(TOUR_STOPS.length).toBeGreaterThan(0);
  for (const { expected, fault } of TOUR_STOPS) {
    expect(expected, fault).toMatchObject({ verdict: 'found', repair: 'done' });
  }
});

test('no line is wider than the screen, and each screen says that this is a practice node', () => {
  const texts = [
    introLines(settings, 4, screen),
    ...TOUR_STOPS.flatMap(({ tour: { title, story } }) => [
      headingLines('1 of 4', title, screen),
      storyLines(story, screen),
    ]),
  ];
  const lines = texts.join('').split('\n');
  expect(lines.filter(({ length }) => length > 80)).toEqual([]);
  expect(texts[0]).toContain('PRACTICE NODE');
  expect(texts[1]).toContain('PRACTICE NODE');
});

test('a page is shown up to its cause, and then only its headings', () => {
  const page =
    'it: a fault\n\nSymptom\n\nIt is slow.\n\n\u001b[1mCause\u001b[22m\n\nTime.\n\nHow we know\n\n...\n';
  expect(shortPage(page)).toBe(
    'it: a fault\n\nSymptom\n\nIt is slow.\n\n[...] and then: Cause, How we know\n',
  );
  expect(shortPage('without parts\n')).toBe('without parts\n');
});

test('a command that is too long for the screen is still valid for a shell', () => {
  const words =
    'kubediag lab break container-without-log-path --variant broker-damaged --name tour-20274';
  const text = commandLines('# ', words, screen);
  expect(text.split('\n').filter(({ length }) => length > 80)).toEqual([]);
  expect(text).toMatch(/ \\\n {4}--name tour-20274\n$/);
  const stale =
    'kubediag lab break stale-subpath-mount --variant configmap-active --name tour-31384';
  expect(commandLines('# ', stale, screen)).toMatch(/-active \\\n {4}--name tour-31384\n$/);
  expect(text.replace(/ \\\n +/g, ' ')).toBe(`\n# ${words}\n`);
  expect(commandLines('# ', 'kubediag check', screen)).toBe('\n# kubediag check\n');
});

test('a changed kubelet version is shown with the reason', () => {
  expect(kubeletLines(HABITS.removesByPattern, settings, screen)).toMatch(
    /kubelet that removes everything that begins with[\s\S]*behaves as\sv1\.36\.3\.\n$/,
  );
  expect(kubeletLines(HABITS.removesTheLogPath, settings, screen)).toBe('');
});
