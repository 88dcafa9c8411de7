import { fieldAt, textAt } from '../../lib/std/json.ts';
import type { Kind } from './kinds.ts';

type Cell = string | number | boolean;

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  /** Above 0: only shown with `-o wide`. */
  readonly priority: number;
  readonly cellOf: (object: unknown, now: Date) => Cell;
}

/** The columns of a kind, here and in an API server: its name comes first. */
export function columnsOf({ columns }: Pick<Kind, 'columns'>): readonly TableColumn[] {
  const rest = columns.map(({ name, type, jsonPath, priority = 0 }) => {
    // .spec.podReference.name
    const path = jsonPath.split('.').slice(1);
    const cellOf = (object: unknown, now: Date): Cell => {
      const value = fieldAt(object, ...path);
      if (type === 'date') return typeof value === 'string' ? ageText(value, now) : '';
      return isCell(value) ? value : '';
    };
    return { name, type, priority, cellOf };
  });
  const cellOf = (object: unknown): Cell => textAt(object, 'metadata', 'name') ?? '';
  return [{ name: 'Name', type: 'string', priority: 0, cellOf }, ...rest];
}

function isCell(value: unknown): value is Cell {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** "45s", "5m12s", "3h", "12d": how long ago a time is, as kubectl prints it. */
export function ageText(time: string, now: Date): string {
  const seconds = Math.floor((now.getTime() - Date.parse(time)) / 1_000);
  if (Number.isNaN(seconds)) return '<invalid>';
  // Clocks of two machines may differ by a little.
  const age = Math.max(seconds, 0);
  const [, unit, smaller] = STEPS.find(([below]) => age < below) ?? [0, 'y' as const];
  const first = `${Math.floor(age / UNITS[unit])}${unit}`;
  const rest = smaller ? Math.floor((age % UNITS[unit]) / UNITS[smaller]) : 0;
  return rest > 0 ? `${first}${rest}${smaller}` : first;
}

const UNITS = { s: 1, m: MINUTE, h: HOUR, d: DAY, y: YEAR };
type Unit = keyof typeof UNITS;

/** Below so many seconds an age has these units. */
const STEPS: readonly (readonly [below: number, unit: Unit, smaller?: Unit])[] = [
  [2 * MINUTE, 's'],
  [10 * MINUTE, 'm', 's'],
  [3 * HOUR, 'm'],
  [8 * HOUR, 'h', 'm'],
  [2 * DAY, 'h'],
  [8 * DAY, 'd', 'h'],
  [2 * YEAR, 'd'],
  [8 * YEAR, 'y', 'd'],
];
