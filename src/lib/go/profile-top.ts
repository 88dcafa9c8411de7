import type { Profile } from './profile.ts';

export interface ProfileFunction {
  readonly function: string;
  /** Spent in the function itself. */
  readonly flat: number;
  /** Spent in it and in all that it called. */
  readonly cumulative: number;
}

/** Every function of a profile, the one that spends most itself first. */
export function functionsOf({ samples }: Profile): readonly ProfileFunction[] {
  const spent = new Map<string, { flat: number; cumulative: number }>();
  for (const { value, stack } of samples) {
    // A function that calls itself is counted once.
    for (const name of new Set(stack)) {
      const known = spent.get(name) ?? { flat: 0, cumulative: 0 };
      known.cumulative += value;
      if (name === stack[0]) known.flat += value;
      spent.set(name, known);
    }
  }
  return [...spent]
    .map(([name, { flat, cumulative }]) => ({ function: name, flat, cumulative }))
    .toSorted((left, right) => right.flat - left.flat || right.cumulative - left.cumulative);
}

/** A call and what it called, as wide as what was spent there: the tree behind a flame graph. */
export interface Flame {
  readonly name: string;
  readonly value: number;
  readonly children: readonly Flame[];
}

interface Growing {
  readonly name: string;
  value: number;
  readonly children: Map<string, Growing>;
}

/** Calls that took less than this share of all would not be seen, and are left out. */
const SHARE_SHOWN_MIN = 0.0005;

export function flameOf({ samples, total }: Profile, name: string): Flame {
  const root: Growing = { name, value: 0, children: new Map() };
  for (const { value, stack } of samples) {
    let at = root;
    root.value += value;
    for (const call of stack.toReversed()) {
      const next = at.children.get(call) ?? { name: call, value: 0, children: new Map() };
      at.children.set(call, next);
      next.value += value;
      at = next;
    }
  }
  return frozen(root, total * SHARE_SHOWN_MIN);
}

function frozen({ name, value, children }: Growing, least: number): Flame {
  const shown = [...children.values()]
    .filter((child) => child.value >= least && child.value > 0)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
  return { name, value, children: shown.map((child) => frozen(child, least)) };
}
