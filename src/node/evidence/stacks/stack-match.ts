import type { Frame, GoroutineDump, GoroutineGroup } from '../../../lib/go/goroutine-dump.ts';
import { FRAME_TABLE, type FrameRow, type StackPattern } from './frame-table.ts';

/** A row of the frame table, and the goroutines that match it. */
export interface RowMatch {
  readonly row: FrameRow;
  readonly groups: readonly GoroutineGroup[];
  readonly count: number;
  /** The longest wait of these goroutines; null if the dump does not show it. */
  readonly minutes: number | null;
  /** The text does not contain the whole stack, so the match is only likely. */
  readonly isPartial: boolean;
}

/** The match of one stack with a row. */
export interface StackMatch {
  readonly row: FrameRow;
  readonly pattern: StackPattern;
  /** The distance of its first matching function from the innermost call. */
  readonly depth: number;
  readonly isPartial: boolean;
}

/**
 * The rows that match the dump, except for normal work: waits of less than a minute, and goroutines
 * that always wait.
 */
export function matchRows(dump: GoroutineDump): readonly RowMatch[] {
  const matches = dump.groups.flatMap((group) =>
    matchesOf(group)
      // A stack has one cause; it may also be one of many that only count together.
      .filter(({ pattern }, index) => index === 0 || pattern.countMin > 1)
      .map((match) => ({ ...match, group })),
  );
  return FRAME_TABLE.filter(({ kind }) => kind !== 'normal').flatMap((row) => {
    const ours = matches.filter((match) => match.row === row);
    const grouped = Map.groupBy(ours, ({ pattern }) => pattern);
    const reported = [...grouped].flatMap(([pattern, some]) => reportedBy(pattern, row, some));
    const groups = reported.map(({ group }) => group);
    if (groups.length === 0) return [];
    const count = groups.reduce((sum, group) => sum + group.count, 0);
    return [{ row, groups, count, minutes: longest(groups), isPartial: isAllPartial(reported) }];
  });
}

type GroupMatch = StackMatch & { readonly group: GoroutineGroup };

function reportedBy(pattern: StackPattern, row: FrameRow, matches: readonly GroupMatch[]) {
  const count = matches.reduce((sum, { group }) => sum + group.count, 0);
  if (count < pattern.countMin) return [];
  // Rows that need many goroutines match by their number, with any wait.
  if (pattern.countMin > 1) return matches;
  return matches.filter(
    ({ group }) => group.minutes === null || group.minutes >= row.normalMinutes,
  );
}

function isAllPartial(matches: readonly StackMatch[]): boolean {
  return matches.every(({ isPartial }) => isPartial);
}

function longest(groups: readonly GoroutineGroup[]): number | null {
  const known = groups.flatMap(({ minutes }) => (minutes === null ? [] : [minutes]));
  return known.length > 0 ? Math.max(...known) : null;
}

/** Every row that matches a stack, the most specific one first. */
export function matchesOf(group: GoroutineGroup): readonly StackMatch[] {
  const frames = callsOf(group);
  return FRAME_TABLE.flatMap((row) =>
    row.stacks.flatMap((pattern) => matchOf(row, pattern, group, frames) ?? []),
  ).toSorted(
    (left, right) =>
      Number(left.isPartial) - Number(right.isPartial) ||
      left.depth - right.depth ||
      right.pattern.steps.length - left.pattern.steps.length,
  );
}

function matchOf(
  row: FrameRow,
  pattern: StackPattern,
  group: GoroutineGroup,
  frames: readonly Frame[],
): StackMatch | undefined {
  if (pattern.state !== undefined && group.state !== null && group.state !== pattern.state) return;
  let [at, depth, steps] = [0, 0, 0];
  for (const step of pattern.steps) {
    const found = frames.findIndex((frame, index) => index >= at && isOneOf(frame.function, step));
    if (found < 0) break;
    if (steps === 0) depth = found;
    steps += 1;
    at = found + 1;
  }
  if (pattern.isInnermost && (depth > 0 || group.isHeadless)) return undefined;
  const isPartial = steps < pattern.steps.length;
  if (isPartial && !(group.isCut && steps >= pattern.enough)) return undefined;
  return steps === 0 ? undefined : { row, pattern, depth, isPartial };
}

/** The stack without the frames that Go's scheduler adds in some dumps. */
export function callsOf({ frames }: GoroutineGroup): readonly Frame[] {
  const first = frames.findIndex(({ function: name }) => !name.startsWith('runtime.'));
  return first > 0 ? frames.slice(first) : frames;
}

/** The same few thousand functions are looked up again and again. */
const ANSWERS_MAX = 10_000;
const answers = new WeakMap<readonly string[], Map<string, boolean>>();

export function isOneOf(name: string, patterns: readonly string[]): boolean {
  const known = answers.get(patterns) ?? new Map<string, boolean>();
  if (known.size === 0 || known.size >= ANSWERS_MAX) {
    known.clear();
    answers.set(patterns, known);
  }
  const answer = known.get(name) ?? patterns.some((pattern) => isNamed(name, pattern));
  known.set(name, answer);
  return answer;
}

/** Whether a pattern of the table matches a function: from a "/" or "." to its end. */
function isNamed(name: string, pattern: string): boolean {
  const isOpen = pattern.endsWith('*');
  const word = isOpen ? pattern.slice(0, -1) : pattern;
  for (let at = name.indexOf(word); at >= 0; at = name.indexOf(word, at + 1)) {
    const isStart = at === 0 || word.startsWith('.') || BOUNDARIES.includes(name.charAt(at - 1));
    if (isStart && (isOpen || at + word.length === name.length)) return true;
  }
  return false;
}

const BOUNDARIES = ['/', '.'];
