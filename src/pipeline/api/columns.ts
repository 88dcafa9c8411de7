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
  const step = STEPS.find(({ below }) => age < below) ?? LAST_STEP;
  const first = `${Math.floor(age / step.unit)}${step.word}`;
  const rest = step.rest ? Math.floor((age % step.unit) / step.rest.unit) : 0;
  return rest > 0 && step.rest ? `${first}${rest}${step.rest.word}` : first;
}

interface Step {
  readonly below: number;
  readonly unit: number;
  readonly word: string;
  readonly rest?: { readonly unit: number; readonly word: string };
}

const LAST_STEP: Step = { below: Number.POSITIVE_INFINITY, unit: YEAR, word: 'y' };
const STEPS: readonly Step[] = [
  { below: 2 * MINUTE, unit: 1, word: 's' },
  { below: 10 * MINUTE, unit: MINUTE, word: 'm', rest: { unit: 1, word: 's' } },
  { below: 3 * HOUR, unit: MINUTE, word: 'm' },
  { below: 8 * HOUR, unit: HOUR, word: 'h', rest: { unit: MINUTE, word: 'm' } },
  { below: 2 * DAY, unit: HOUR, word: 'h' },
  { below: 8 * DAY, unit: DAY, word: 'd', rest: { unit: HOUR, word: 'h' } },
  { below: 2 * YEAR, unit: DAY, word: 'd' },
  { below: 8 * YEAR, unit: YEAR, word: 'y', rest: { unit: DAY, word: 'd' } },
  LAST_STEP,
];
