import { expect, test } from 'vitest';
import type { ExamResult } from '../../lab/exam/result.ts';
import { EXECUTABLE, startProgram } from '../rig/run-kubediag.ts';

/** The whole of it takes some minutes on two cores, and the machine may be busy with other tests. */
const EXAM_MS = 20 * 60_000;

test(
  'the exam of the lab is perfect: all faults found and repaired, no look-alike reported, no side effect',
  async () => {
    const text = [EXECUTABLE, 'lab', 'exam', '--runtime', 'stand-in', '-o', 'json'];
    const { child, end } = startProgram(text, { limitMs: EXAM_MS });
    child.stdin?.end();
    const { code, stdout, stderr } = await end;
    expect(stdout, stderr).toMatch(/^\{/);
    const exam = JSON.parse(stdout) as ExamResult;
    const failed = exam.cases.filter(({ passed }) => !passed);
    expect(
      failed.map(({ name, problems, sideEffects }) => ({ name, problems, sideEffects })),
    ).toEqual([]);
    expect(exam).toMatchObject({ failed: 0, passed: exam.cases.length, outside: [], leftOut: [] });
    expect(code, stderr).toBe(0);

    expect(exam.cases.length).toBeGreaterThanOrEqual(30);
    const lookAlikes = exam.cases.filter(({ kind }) => kind === 'look-alike');
    expect(lookAlikes.length).toBeGreaterThanOrEqual(12);
    for (const { verdict, repair, sideEffects } of lookAlikes) {
      expect({ verdict, repair, sideEffects }).toEqual({
        verdict: 'clear',
        repair: 'none',
        sideEffects: [],
      });
    }
    for (const { name, expected, verdict, state, repair, verified } of exam.cases) {
      expect({ verdict, state, repair }, name).toEqual({ state: undefined, ...expected });
      expect(verified, name).toBe(expected.repair === 'none' ? 'none' : 'yes');
    }
  },
  EXAM_MS,
);
