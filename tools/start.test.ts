import { expect, test } from 'vitest';
import { TOUR_STOPS } from '../lab/tour.ts';
import { tourFor } from './start.ts';

test('npm start shows one fault of the tour, and all of them to who asks for it', () => {
  expect(tourFor([])).toEqual(['lab', 'tour', 'stale-subpath-mount', '--serve']);
  expect(TOUR_STOPS.some((each) => each.fault === 'stale-subpath-mount')).toBe(true);
  expect(tourFor(['--all'])).toEqual(['lab', 'tour', '--serve']);
});

test('any other word is a command', () => {
  expect(tourFor(['replay', 'FILE'])).toBeUndefined();
  expect(tourFor(['lab', 'tour', '--all'])).toBeUndefined();
});
