import { defined } from '../../src/lib/std/defined.ts';
import { fieldAt, listAt, textAt } from '../../src/lib/std/json.ts';
import type { Break, Expected } from '../break.ts';
import type { SeenPod } from './compare.ts';
import type { CaseResult, Seen } from './result.ts';

/** The output of `check -o json` and its exit code. */
export interface Checked {
  readonly code: number;
  readonly report: unknown;
}

type Case = Pick<Break, 'kind' | 'fault'> & { readonly expected: Expected };

const WORST_FIRST = ['damaged', 'active', 'latent', 'benign'];
const CODES: Readonly<Record<Seen['verdict'], number>> = { clear: 0, found: 1, unknown: 2 };

/** The problems of a check after the break: its report must be exactly the expected one. */
export function judgeCheck(
  { kind, fault, expected }: Case,
  checked: Checked,
  healthy: readonly SeenPod[] = [],
): Seen {
  const reports = faultsIn(checked.report);
  const own = reports.find(({ name }) => name === fault);
  if (!own) return { verdict: 'unknown', problems: [`${fault} is missing in the report`] };
  const stray = strayReports(reports, own, kind === 'look-alike');
  const problems = [
    ...ownProblems(own, expected),
    ...stray.map((each) => `${each.name} is ${reported(each)}`),
    ...reports.flatMap((each) => healthyPodProblems(each, healthy)),
    ...codeProblems(checked.code, reports),
  ];
  const { verdict, state } =
    kind === 'look-alike' && own.verdict === 'clear' ? (stray[0] ?? own) : own;
  return defined({ verdict, state, problems });
}

/** The problems of the check after the repair. */
export function judgeAfterwards({ fault, expected }: Case, checked: Checked): readonly string[] {
  const reports = faultsIn(checked.report);
  const { afterwards = [] } = expected;
  const isFine = ({ name, verdict }: FaultSeen) => {
    if (afterwards.includes(name)) return verdict === 'found';
    if (name !== fault) return verdict !== 'found';
    return verdict === (expected.repair === 'done' ? 'clear' : expected.verdict);
  };
  const isReported = reports.some(({ name }) => name === fault);
  return [
    ...(isReported ? [] : [`${fault} is missing in the report after the repair`]),
    ...reports
      .filter((each) => !isFine(each))
      .map((each) => `after the repair ${each.name} is ${reported(each)}`),
    ...codeProblems(checked.code, reports),
  ];
}

function ownProblems(own: FaultSeen, expected: Expected): readonly string[] {
  const { verdict, state, findings = state === undefined ? 0 : 1 } = expected;
  if (own.verdict !== verdict) return [`${own.name} is ${reported(own)}; expected ${verdict}`];
  if (own.state !== state) {
    const [is, should] = [own.state ?? 'without a finding', state ?? 'no finding'];
    return [`${own.name} is ${is}; expected ${should}`];
  }
  if (own.findings.length === findings) return [];
  return [`${own.name} has ${own.findings.length} findings; expected ${findings}`];
}

/** A pod that the break did not touch must have no finding, and above all no action. */
function healthyPodProblems(
  { name, findings }: FaultSeen,
  healthy: readonly SeenPod[],
): readonly string[] {
  return findings.flatMap((finding) => {
    const words = JSON.stringify([fieldAt(finding, 'subject'), fieldAt(finding, 'actions')]);
    return healthy
      .filter(({ uid }) => words.includes(uid))
      .map((pod) => `${name} has a finding on the healthy pod ${pod.name}`);
  });
}

/**
 * Unexpected reports on other faults. A real fault that hangs may make others unknown; with a
 * look-alike every fault must be clear.
 */
function strayReports(reports: readonly FaultSeen[], own: FaultSeen, isStrict: boolean) {
  return reports.filter(
    ({ name, verdict }) =>
      name !== own.name && (isStrict ? verdict !== 'clear' : verdict === 'found'),
  );
}

/** The exit code and the output of `recover`. */
export interface Recovered {
  readonly code: number;
  readonly text: string;
}

/** The result of `recover`, read from its output. */
export function repairOf({ code, text }: Recovered): CaseResult['repair'] {
  if (/^done\b/m.test(text))
    return code === CODES.clear || code === CODES.found ? 'done' : 'failed';
  if (code === CODES.clear || (code === CODES.unknown && /^unknown\b/m.test(text))) return 'none';
  if (code === CODES.found) return /^no automatic repair\b/m.test(text) ? 'refused' : 'failed';
  return /^refused\b/m.test(text) ? 'refused' : 'failed';
}

/**
 * The problems of the repair: it must have the expected result and the right exit code, also if
 * there is nothing to repair, or if the check after the repair finds this fault again.
 */
export function judgeRepair({ expected, fault }: Pick<Case, 'expected' | 'fault'>, ran: Recovered) {
  const { repair, verdict, afterwards = [] } = expected;
  const is = repairOf(ran);
  if (is !== repair) return [`recover is ${is}; expected ${repair}: ${ran.text.trim()}`];
  if (repair === 'refused') return [];
  const rest = afterwards.includes(fault) ? CODES.found : CODES.clear;
  const code = repair === 'none' ? CODES[verdict] : rest;
  return ran.code === code ? [] : [`recover: exit code ${ran.code}; expected ${code}`];
}

/** The exit code of a dry run must be that of the repair. */
export function judgeDryRun(
  foreseen: Pick<Recovered, 'code'>,
  { code }: Pick<Recovered, 'code'>,
): readonly string[] {
  if (foreseen.code === code) return [];
  return [`exit codes differ: ${foreseen.code} of recover --dry-run, ${code} of recover`];
}

interface FaultSeen {
  readonly name: string;
  readonly verdict: Seen['verdict'];
  readonly reason: string | undefined;
  readonly summary: string | undefined;
  /** The state of the worst finding. */
  readonly state: string | undefined;
  readonly findings: readonly unknown[];
}

function faultsIn(report: unknown): readonly FaultSeen[] {
  return (listAt(report, 'faults') ?? []).map((fault) => {
    const findings = listAt(fault, 'findings') ?? [];
    const worst = WORST_FIRST.flatMap((state) =>
      findings.filter((finding) => textAt(finding, 'state') === state),
    )[0];
    return {
      name: textAt(fault, 'name') ?? '',
      verdict: (textAt(fault, 'verdict') ?? 'unknown') as Seen['verdict'],
      reason: textAt(fault, 'reason'),
      summary: textAt(worst, 'summary'),
      state: textAt(worst, 'state'),
      findings,
    };
  });
}

function reported({ verdict, reason, summary }: FaultSeen): string {
  const why = verdict === 'found' ? summary : reason;
  return why === undefined ? verdict : `${verdict}: ${why}`;
}

/** Scripts read the exit code, so it must agree with the report. */
function codeProblems(code: number, reports: readonly FaultSeen[]): readonly string[] {
  const verdicts = reports.map(({ verdict }) => verdict);
  const worst = (['found', 'unknown'] as const).find((each) => verdicts.includes(each)) ?? 'clear';
  return code === CODES[worst]
    ? []
    : [`check: exit code ${code}, but its report says ${worst} (${CODES[worst]})`];
}
