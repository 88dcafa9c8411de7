import { release } from 'node:os';
import { type BorrowedLab, type BorrowOptions, borrowLab, duringLab } from '../borrow-lab.ts';
import type { Break } from '../break.ts';
import { breaks } from '../breaks/index.ts';
import type { LabTerminal } from '../lab-terminal.ts';
import { WrongWords } from '../refusal.ts';
import type { LabSettings } from '../settings.ts';
import { caseName, chooseCases } from './cases.ts';
import { changesBetween } from './compare.ts';
import { examJunit } from './junit.ts';
import { labNode } from './lab-node.ts';
import { outsideOf } from './outside.ts';
import { type ExamResult, isPerfect } from './result.ts';
import { sitAll } from './sit-all.ts';
import { examTable } from './table.ts';

export interface ExamOptions extends BorrowOptions {
  readonly output: 'table' | 'json' | 'junit';
}

/** Side by side: a case mostly waits, for a kubelet or for a mount that does not answer. */
const LABS = 2;

/** `kubediag lab exam [CASE...]`: 0 only when it is perfect. */
export async function exam(
  words: readonly string[],
  options: ExamOptions,
  terminal: LabTerminal,
  stop: AbortSignal,
): Promise<number> {
  const chosen = chooseCases(words, breaks);
  if ('wrong' in chosen) throw new WrongWords(chosen.wrong);
  const result = await sitExam(chosen.chosen, options, terminal, stop);
  terminal.progress('');
  const print = {
    table: () => examTable(result, terminal.style),
    json: () => `${JSON.stringify(result, null, 2)}\n`,
    junit: () => examJunit(result),
  };
  terminal.out(print[options.output]());
  if (stop.aborted) terminal.err('stopped: what was not sat is not in the score\n');
  return isPerfect(result) && !stop.aborted ? 0 : 1;
}

async function sitExam(
  asked: readonly Break[],
  options: ExamOptions,
  terminal: LabTerminal,
  stop: AbortSignal,
): Promise<ExamResult> {
  const begun = performance.now();
  const count = options.name === undefined ? Math.min(LABS, asked.length) : 1;
  const names = Array.from({ length: count }, (_, at) => `exam-${process.pid}-${at + 1}`);
  const before = outsideOf(names);
  const labs = await borrowAll(names, options, terminal);
  const { settings } = labs[0]?.lab() ?? {};
  const leftOut = asked.flatMap((each) => {
    const why = settings && each.leftOut?.(settings);
    return why === undefined ? [] : [{ name: caseName(each), why }];
  });
  const isLeftOut = (each: Break) => leftOut.some(({ name }) => name === caseName(each));
  const places = labs.map(({ lab, remake }) => ({
    node: () => labNode(lab()),
    ...(remake ? { remake } : {}),
  }));
  const sit = () =>
    sitAll(
      asked.filter((each) => !isLeftOut(each)),
      places,
      { stop, onProgress: terminal.progress },
    );
  const cases = await duringLab({ end: () => endAll(labs, terminal) }, sit, stop, []);
  const passed = cases.filter((each) => each.passed).length;
  return {
    cases,
    passed,
    failed: cases.length - passed,
    leftOut,
    outside: changesBetween(before, outsideOf(names)),
    kernel: release(),
    ...(settings ? programsOf(settings) : { kubelet: '', runtime: '' }),
    tookMs: Math.round(performance.now() - begun),
  };
}

async function borrowAll(
  names: readonly string[],
  options: ExamOptions,
  terminal: LabTerminal,
): Promise<readonly BorrowedLab[]> {
  const making = names.map((name) => borrowLab(options, name, terminal.progress));
  const made = await Promise.allSettled(making);
  const labs = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failure = made.find((each) => each.status === 'rejected');
  if (failure) {
    await endAll(labs, terminal);
    throw failure.reason;
  }
  return labs;
}

async function endAll(labs: readonly BorrowedLab[], terminal: LabTerminal): Promise<void> {
  terminal.progress('leaving nothing behind');
  await Promise.all(labs.map((each) => each.end()));
}

function programsOf({ kubelet, runtime }: LabSettings): Pick<ExamResult, 'kubelet' | 'runtime'> {
  const how = kubelet.kind === 'real' ? kubelet.program : 'stand-in';
  return {
    kubelet: `kubelet ${kubelet.version} (${how})`,
    runtime:
      runtime.kind === 'stand-in' ? 'stand-in runtime' : `containerd (${runtime.containerd})`,
  };
}
