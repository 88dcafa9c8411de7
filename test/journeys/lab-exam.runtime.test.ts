import { expect, test } from 'vitest';
import type { ExamResult } from '../../lab/exam/result.ts';
import { containerdPackages } from '../rig/containerd.ts';
import { EXECUTABLE, startProgram } from '../rig/run-kubediag.ts';

const EXAM_MS = 10 * 60_000;
/** What the runtime has a part in; the rest is the same with any. */
const CASES = ['stale-subpath-mount/', 'container-without-log-path/', 'runtime-not-responding/'];

test(
  'the exam is as perfect with a real containerd and runc',
  async () => {
    const packages = await containerdPackages();
    if ('missing' in packages) throw new Error(packages.missing);
    const text = [EXECUTABLE, 'lab', 'exam', ...CASES, '--runtime', 'containerd', '-o', 'json'];
    const { child, end } = startProgram(text, {
      limitMs: EXAM_MS,
      environment: packages.environment,
    });
    child.stdin?.end();
    const { code, stdout, stderr } = await end;
    expect(stdout, stderr).toMatch(/^\{/);
    const exam = JSON.parse(stdout) as ExamResult;
    const failed = exam.cases.filter(({ passed }) => !passed);
    expect(
      failed.map(({ name, problems, sideEffects }) => ({ name, problems, sideEffects })),
    ).toEqual([]);
    expect(exam.runtime).toContain('containerd');
    expect(exam.cases.length).toBeGreaterThanOrEqual(20);
    expect({ code, outside: exam.outside }).toEqual({ code: 0, outside: [] });
  },
  EXAM_MS,
);
