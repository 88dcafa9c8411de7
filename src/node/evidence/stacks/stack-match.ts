import type { Frame, GoroutineDump, GoroutineGroup } from '../../../lib/go/goroutine-dump.ts';
import { FRAME_TABLE, type FrameRow, type StackPattern } from './frame-table.ts';

/** A row of the frame table, and the goroutines that show it. */
export interface RowMatch {
  readonly row: FrameRow;
  readonly groups: readonly GoroutineGroup[];
  readonly count: number;
  /** How long the longest of them waits; null when the dump does not contain it. */
  readonly minutes: number | null;
  /** Not all of the stack is in the text, so this is what it looks like, not what it is. */
  readonly isPartial: boolean;
}

/** How one stack shows a row. */
export interface StackMatch {
  readonly row: FrameRow;
  readonly pattern: StackPattern;
  /** How far from the innermost call the first of its functions is. */
  readonly depth: number;
  readonly isPartial: boolean;
}

/**
 * The rows that the dump shows, but for what is everyday work: what waits for less than a minute, and
 * what always waits.
 */
export function matchRows(dump: GoroutineDump): readonly RowMatch[] {
  const matches = dump.groups.flatMap((group) =>
    matchesOf(group)
      // What a stack waits for is one thing; that it is one of a crowd is another.
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
  // A crowd counts by its number, whatever the time.
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

/** Every row that a stack shows, the one that says most of what it waits for first. */
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

/** The stack without what Go's own scheduler adds on top of it in some dumps. */
export function callsOf({ frames }: GoroutineGroup): readonly Frame[] {
  const first = frames.findIndex(({ function: name }) => !name.startsWith('runtime.'));
  return first > 0 ? frames.slice(first) : frames;
}

/** The same few thousand functions are asked for again and again. */
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

/** Whether a function is meant by a pattern of the table: from a "/" or "." on, up to its end. */
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
