import { expect, test } from 'vitest';
import { parseProfile } from '../../src/lib/go/profile.ts';
import { pprofOf } from './cpu-profile.ts';

function call(id: number, functionName: string, ...children: readonly number[]) {
  const nowhere = { scriptId: '0', url: '', lineNumber: 0, columnNumber: 0 };
  return { id, callFrame: { functionName, ...nowhere }, children: [...children] };
}

test('the pprof form of a V8 profile has the same functions and times', () => {
  const profile = parseProfile(
    pprofOf(
      {
        nodes: [
          call(1, '(root)', 2, 5, 6),
          call(2, 'run', 3),
          call(3, 'cleanUpOrphans', 4),
          call(4, 'readdir'),
          call(5, '(idle)'),
          call(6, ''),
        ],
        samples: [5, 4, 3, 4, 6, 5],
        timeDeltas: [0, 700, 1_000, 2_000, 3_000, 4_000],
        startTime: 1_000_000,
        endTime: 3_000_000,
      },
      1_763_215_920_000,
    ),
  );
  expect(profile).toMatchObject({ measure: 'cpu', unit: 'nanoseconds', durationMs: 2_000 });
  expect(profile.time).toEqual(new Date(1_763_215_920_000));
  expect(profile.samples).toEqual([
    { value: 4_000_000, stack: ['readdir', 'cleanUpOrphans', 'run'] },
    { value: 2_000_000, stack: ['cleanUpOrphans', 'run'] },
    { value: 4_000_000, stack: ['(anonymous)'] },
  ]);
});
