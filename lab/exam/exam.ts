import { release } from 'node:os';
import { jsonText, textAt } from '../../src/lib/std/json.ts';
import { cleanUpOnSignal } from '../../src/lib/terminal/stop-on-signal.ts';
import type { Terminal } from '../../src/lib/terminal/terminal.ts';
import { type Break, caseName } from '../break.ts';
import { breaks } from '../breaks/index.ts';
import type { LabSettings } from '../settings.ts';
import { type AcquiredLab, duringLab, type WithLabOptions, withLab } from '../with-lab.ts';
import { chooseCases } from './cases.ts';
import { changesBetween } from './compare.ts';
import { type ExamNode, type LabNode, labNode } from './exam-node.ts';
import { examJunit } from './junit.ts';
import { CHECK_MS } from './limits.ts';
import { outsideOf } from './outside.ts';
import { type ExamResult, isPerfect } from './result.ts';
import { type ExamPlace, runAll } from './run-all.ts';
import { examTable } from './table.ts';

export interface ExamOptions extends WithLabOptions {
  readonly output: 'table' | 'json' | 'junit';
}

/** Nodes in parallel: a case mostly waits, for a kubelet or for a mount that does not answer. */
const LABS = 2;

export async function exam(
  args: readonly string[],
  options: ExamOptions,
  terminal: Terminal,
  stop = cleanUpOnSignal(),
): Promise<number> {
  const result = await runExam(chooseCases(args, breaks), options, terminal, stop);
  terminal.progress('');
  const print = {
    table: () => examTable(result, { width: tableWidth(terminal), style: terminal.style }),
    json: () => `${jsonText(result, 2)}\n`,
    junit: () => examJunit(result),
  };
  terminal.out(print[options.output]());
  if (result.notRun.length > 0) terminal.err(interruption(result, options));
  return isPerfect(result) ? 0 : 1;
}

function interruption({ notRun }: ExamResult, { name }: ExamOptions): string {
  const fate =
    name === undefined
      ? 'nothing is left of its practice nodes'
      : `heal what is still broken: kubediag lab heal --name ${name}`;
  return `interrupted, cases not run: ${notRun.length}; ${fate}\n`;
}

async function runExam(
  asked: readonly Break[],
  options: ExamOptions,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<ExamResult> {
  const begun = performance.now();
  const count = options.name === undefined ? Math.min(LABS, asked.length) : 1;
  const names = Array.from({ length: count }, (_, at) => `exam-${process.pid}-${at + 1}`);
  const before = outsideOf(names);
  const labs = await acquireAll(names, options, terminal, stop);
  const { settings } = labs[0]?.lab() ?? {};
  const leftOut = asked.flatMap((each) => {
    const why = settings && each.leftOut?.(settings);
    return why === undefined ? [] : [{ name: caseName(each), why }];
  });
  const toRun = asked.filter((each) => !leftOut.some(({ name }) => name === caseName(each)));
  const places = labs.map(placeOn);
  const sit = async () => {
    try {
      const runtime = await runtimeOn(places[0]?.node());
      const watch = { stop, onProgress: terminal.progress };
      return { runtime, cases: await runAll(toRun, places, watch) };
    } finally {
      for (const each of places) each.close();
    }
  };
  const stopped = { runtime: '', cases: [] };
  const end = () => endAll(labs, terminal);
  const { runtime, cases } = await duringLab({ end }, sit, stop, stopped);
  const passed = cases.filter((each) => each.passed).length;
  return {
    cases,
    passed,
    failed: cases.length - passed,
    leftOut,
    notRun: toRun.map(caseName).filter((name) => !cases.some((each) => each.name === name)),
    outside: changesBetween(before, outsideOf(names)),
    kernel: release(),
    kubelet: settings ? kubeletOf(settings) : '',
    runtime: `${runtime} (${settings?.runtime.kind === 'containerd' ? settings.runtime.containerd : 'stand-in'})`,
    tookMs: Math.round(performance.now() - begun),
  };
}

/** The same `LabNode` while its practice node is up. */
function placeOn({ lab, remake }: AcquiredLab): ExamPlace & Pick<LabNode, 'close'> {
  let node: LabNode | undefined;
  const close = () => {
    node?.close();
    node = undefined;
  };
  const remakeIt = async () => {
    close();
    await remake?.();
  };
  return {
    node: () => {
      node ??= labNode(lab());
      return node;
    },
    close,
    ...(remake ? { remake: remakeIt } : {}),
  };
}

async function acquireAll(
  names: readonly string[],
  options: ExamOptions,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<readonly AcquiredLab[]> {
  const making = names.map((name) =>
    withLab(options, { name, purpose: 'exam' }, terminal.progress, stop),
  );
  const created = await Promise.allSettled(making);
  const labs = created.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failure = created.find((each) => each.status === 'rejected');
  if (failure) {
    await endAll(labs, terminal);
    throw failure.reason;
  }
  return labs;
}

async function endAll(labs: readonly AcquiredLab[], terminal: Terminal): Promise<void> {
  terminal.progress('removing the practice nodes');
  await Promise.all(labs.map((each) => each.end()));
}

/** Output to a file shows every column. */
function tableWidth({ width }: Terminal): number {
  return process.stdout.isTTY ? width : Number.POSITIVE_INFINITY;
}

function kubeletOf({ kubelet }: LabSettings): string {
  return `kubelet ${kubelet.version} (${kubelet.kind === 'real' ? kubelet.program : 'stand-in'})`;
}

/** The runtime's name and version: "containerd 1.7.24". */
async function runtimeOn(node: ExamNode | undefined): Promise<string> {
  const ran = await node?.kubediag(['check', '-o', 'json'], CHECK_MS);
  const report: unknown = ran?.stdout.startsWith('{') ? JSON.parse(ran.stdout) : undefined;
  const [name, version] = ['name', 'version'].map((key) => textAt(report, 'node', 'runtime', key));
  return name === undefined ? 'unknown runtime' : `${name} ${version}`;
}
