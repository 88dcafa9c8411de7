import { defined } from '../../../lib/std/defined.ts';
import { jsonText } from '../../../lib/std/json.ts';
import { abortOnSignal } from '../../../lib/terminal/stop-on-signal.ts';
import {
  EXIT,
  type GlobalOptions,
  type Terminal,
  UsageError,
} from '../../../lib/terminal/terminal.ts';
import { wrapText } from '../../../lib/terminal/wrap.ts';
import { CheckMemory } from '../../../node/checkup/check-memory.ts';
import type { FaultReport, FindingReport, Report } from '../../../node/checkup/report.ts';
import { type CheckRun, runCheck } from '../../../node/checkup/run-check.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { sleepUntilStopped } from '../../../pipeline/store/sleep-until-stopped.ts';
import { durationMs } from '../command-line/options.ts';
import type { ReportFormat } from '../command-line/shared-options.ts';
import { reportAbandoned } from '../input/open-node.ts';
import { subjectText } from '../screens/alike-findings.ts';
import { codeOf, showReport } from '../screens/show-report.ts';

/** On a slow node, checks take at most this part of the time. */
const CHECK_SHARE = 1 / 3;

export interface WatchOptions extends GlobalOptions {
  readonly every: string;
  readonly output?: ReportFormat;
}

/**
 * Checks until Ctrl-C and reports only changes; the exit code is that of the last check. All checks
 * share one node, so that a path on which a reader of an earlier check still waits is not touched
 * again. What only time can prove is passed from check to check.
 */
export async function watch(
  node: LiveNode,
  looking: CheckRun,
  { every, output, verbose }: WatchOptions,
  terminal: Terminal,
): Promise<number> {
  const isJson = output === 'json';
  if (output !== undefined && !isJson) {
    throw new UsageError(
      `-o ${output}: not possible with --watch, which prints lines, or JSON with -o json`,
    );
  }
  const everyMs = durationMs('--every', every);
  const stop = abortOnSignal();
  const memory = new CheckMemory();
  let before: Report | undefined;
  let code: number = EXIT.unknown;
  while (!stop.aborted) {
    node.beginCheck();
    const leave = () => node.endCheck('interrupted by Ctrl-C');
    stop.addEventListener('abort', leave, { once: true });
    const settings = memory.addedTo(looking.settings);
    const { report, recording } = await runCheck(node, { ...looking, settings }, terminal);
    await memory.keep(recording, settings);
    stop.removeEventListener('abort', leave);
    // An interrupted check says less than the one before.
    if (stop.aborted && before) break;
    code = codeOf(report);
    if (!before && !isJson) await showReport(report, verbose ? 'wide' : undefined, terminal);
    else printChanges(changesOf(before, report), isJson, terminal);
    before = report;
    node.close();
    await sleepUntilStopped(Math.max(everyMs, report.node.tookMs / CHECK_SHARE), stop);
  }
  node.close();
  await reportAbandoned(node, terminal);
  return code;
}

function printChanges(changes: readonly Change[], isJson: boolean, terminal: Terminal): void {
  if (!isJson) terminal.out(changesText(changes, terminal));
  else for (const change of changes) terminal.out(`${jsonText(change)}\n`);
}

/** The first of similar changes is shown in full, the others in a line each. */
export function changesText(changes: readonly Change[], terminal: Terminal): string {
  const reported = new Set<string>();
  const lines = changes.flatMap((each) => {
    const { fault, change, before, finding } = each;
    const kind = JSON.stringify([fault, change, before, finding?.state, finding?.reason]);
    const isReported = finding !== undefined && reported.has(kind);
    reported.add(kind);
    return changeLines(each, terminal, isReported);
  });
  return lines.map((line) => `${line}\n`).join('');
}

/** "10:22:33  stale-subpath-mount  3f9a1c appeared: active", and the sentence for it below. */
function changeLines(
  change: Change,
  { width, style }: Terminal,
  isReported: boolean,
): readonly string[] {
  const { finding, before } = change;
  const what = finding
    ? `${finding.id} ${change.change}${CHANGE_TEXT[change.change](finding.state, before)}`
    : `${before ? `was ${before}, is ` : ''}${change.verdict}`;
  const below = finding && change.change !== 'gone' ? finding.summary : (change.reason ?? '');
  const clock = change.time.slice('2026-11-15T'.length, '2026-11-15T10:22:33'.length);
  const head = `${clock}  ${style('bold', change.fault)}  ${what}`;
  if (isReported && finding) return [`${head}  ${subjectText(finding.subject)}`];
  return [head, ...wrapText(below, width - 10).map((line) => `${' '.repeat(10)}${line}`)];
}

const CHANGE_TEXT: Readonly<
  Record<Change['change'], (state: string, before: string | undefined) => string>
> = {
  appeared: (state) => `: ${state}`,
  changed: (state, before) => `: was ${before}, is ${state}`,
  gone: () => '',
  verdict: () => '',
};

/** What changed since the previous check. */
export interface Change {
  readonly time: string;
  readonly fault: string;
  readonly change: 'appeared' | 'changed' | 'gone' | 'verdict';
  readonly verdict: FaultReport['verdict'];
  /** What it was before, of a finding that changed or a verdict. */
  readonly before?: string;
  readonly finding?: FindingReport;
  /** Why a fault is unknown. */
  readonly reason?: string;
}

/** The changes from one report to the next; from nothing, all that there is. */
export function changesOf(before: Report | undefined, after: Report): readonly Change[] {
  return after.faults.flatMap((fault) => {
    const old = before?.faults.find(({ name }) => name === fault.name);
    return [...findingChanges(old, fault), ...verdictChange(old, fault)].map((change) => ({
      time: after.node.time,
      fault: fault.name,
      verdict: fault.verdict,
      ...change,
    }));
  });
}

type ReportedChange = Pick<Change, 'change' | 'before' | 'finding' | 'reason'>;

function findingChanges(old: FaultReport | undefined, now: FaultReport): readonly ReportedChange[] {
  const were = new Map((old?.findings ?? []).map((finding) => [finding.id, finding]));
  const are = new Set(now.findings.map(({ id }) => id));
  const reported = now.findings.flatMap((finding): readonly ReportedChange[] => {
    const was = were.get(finding.id);
    if (!was) return [{ change: 'appeared', finding }];
    if (was.state === finding.state && was.reason === finding.reason) return [];
    return [{ change: 'changed', before: was.state, finding }];
  });
  // A finding that can no longer be judged is not gone.
  const gone = now.verdict === 'unknown' ? [] : [...were.values()].filter(({ id }) => !are.has(id));
  return [...reported, ...gone.map((finding) => ({ change: 'gone' as const, finding }))];
}

/** A verdict that follows from the findings is not reported again. */
function verdictChange(old: FaultReport | undefined, now: FaultReport): readonly ReportedChange[] {
  const isUnknown = now.verdict === 'unknown';
  const wasUnknown = old?.verdict === 'unknown';
  if (old ? isUnknown === wasUnknown : !isUnknown) return [];
  return [
    defined({ change: 'verdict', ...(old ? { before: old.verdict } : {}), reason: now.reason }),
  ];
}
