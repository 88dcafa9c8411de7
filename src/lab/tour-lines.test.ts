import { expect, test } from 'vitest';
import { breaks } from './breaks/index.ts';
import { caseName } from './exam/cases.ts';
import { headingLines, introLines, shortPage, storyLines } from './tour-lines.ts';
import { TOUR_STOPS } from './tour-stops.ts';

const screen = { width: 80, style: (_: string, text: string) => text };

test('every stop of the tour shows a fault that the lab makes and KubeDiag repairs', () => {
  for (const stop of TOUR_STOPS) {
    const made = breaks.find((each) => caseName(each) === stop.case);
    expect(made?.expected, stop.case).toMatchObject({ verdict: 'found', repair: 'done' });
  }
});

test('nothing is wider than the screen, and each screen says that it is practice', () => {
  const settings = {
    name: 'tour',
    mountNamespace: 'mnt:[1]',
    kubelet: { kind: 'stand-in', version: 'v1.18.8' },
    runtime: { kind: 'stand-in', why: 'none here' },
  } as const;
  const texts = [
    introLines(settings, 4, screen),
    ...TOUR_STOPS.flatMap(({ title, story }) => [
      headingLines('1 of 4', title, screen),
      storyLines(story, screen),
    ]),
  ];
  const lines = texts.join('').split('\n');
  expect(lines.filter(({ length }) => length > 80)).toEqual([]);
  expect(texts[0]).toContain('PRACTICE NODE');
  expect(texts[1]).toContain('PRACTICE NODE');
});

test('of a page only what stands before its cause is shown, and what else there is', () => {
  const page =
    'it: a fault\n\nSymptom\n\nIt hurts.\n\n\u001b[1mCause\u001b[22m\n\nTime.\n\nHow we know\n\n...\n';
  expect(shortPage(page)).toBe(
    'it: a fault\n\nSymptom\n\nIt hurts.\n\n[...] and then: Cause, How we know\n',
  );
  expect(shortPage('without parts\n')).toBe('without parts\n');
});
