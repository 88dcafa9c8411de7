import { EXIT } from '../../../lib/terminal/terminal.ts';
import type { Verdict } from '../../../node/model/verdict.ts';

/** What became of one finding. Left: nobody tried to repair it, or something of it is still there. */
export type FindingEnd = 'repaired' | 'refused' | 'failed' | 'left';

/** How the recovery from one fault ended. */
export interface FaultResult {
  /** By the id of the finding. */
  readonly ends: ReadonlyMap<string, FindingEnd>;
  /** What these do not show: that the fault is unknown, or that its effect was not seen to end. */
  readonly code: number;
  /** What a dry run expects a check afterwards to find. */
  readonly expected?: Verdict;
  /** The same would happen with every other fault, so none is tried. */
  readonly isOver?: boolean;
}

export type Totals = Readonly<Record<FindingEnd, number>>;

/** Counts findings, with those that only a check afterwards saw. */
export function totalsOf(results: readonly FaultResult[], seenAfterwards: number): Totals {
  const totals = { repaired: 0, refused: 0, failed: 0, left: seenAfterwards };
  for (const { ends } of results) for (const end of ends.values()) totals[end] += 1;
  return totals;
}

/** 0 only when nothing is left to repair. */
export function exitCodeOf(
  { refused, failed, left }: Totals,
  results: readonly Pick<FaultResult, 'code'>[],
): number {
  const codes = results.map(({ code }) => code);
  if (refused + failed > 0 || codes.includes(EXIT.notDone)) return EXIT.notDone;
  if (left > 0) return EXIT.found;
  return codes.includes(EXIT.unknown) ? EXIT.unknown : EXIT.clear;
}

/** "42 repaired, 1 refused, 0 failed"; empty when there was no finding. */
export function totalsText({ repaired, refused, failed, left }: Totals, isDryRun: boolean): string {
  if (repaired + refused + failed + left === 0) return '';
  const remaining = left > 0 ? `, ${left} left` : '';
  const failing = failed > 0 ? `, ${failed} would fail` : '';
  return isDryRun
    ? `${repaired} would be repaired, ${refused} would be refused${failing}${remaining}\n`
    : `${repaired} repaired, ${refused} refused, ${failed} failed${remaining}\n`;
}
