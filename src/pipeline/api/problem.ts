import { PROBLEMS_LISTED_MAX } from './limits.ts';

/** A key of an object or an index of a list, from the top of a resource down to a place in it. */
export type Place = readonly (string | number)[];

/** What is wrong with a resource, where, and what to do about it. */
export interface Problem {
  /** A note is no reason to refuse: it may be meant. */
  readonly severity: 'problem' | 'note';
  readonly place: Place;
  readonly what: string;
  readonly fix: string;
}

export function problem(place: Place, what: string, fix: string): Problem {
  return { severity: 'problem', place, what, fix };
}

export function note(place: Place, what: string, fix: string): Problem {
  return { severity: 'note', place, what, fix };
}

/** "spec.adjacencyList[2].to[0]", as Kubernetes writes it. */
export function placeText(place: Place): string {
  return place
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      // A key such as "param.size" is one step, though it looks like two.
      if (!/^[\w-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}

/** The other way round. A header of HTTP has single quotes in place of double ones. */
export function placeIn(text: string): Place {
  // adjacencyList, [2], ["param.size"]
  const steps = text.matchAll(/\[(?<index>\d+)\]|\[(?<quote>["'])(?<key>.*?)\k<quote>\]|[\w-]+/g);
  return Array.from(steps, ({ 0: step, groups: { index, key } = {} }) =>
    index === undefined ? (key ?? step) : Number(index),
  );
}

/** The first of them; of the others how many there are, so that a large object has no larger answer. */
export function listed(problems: Iterable<Problem>): readonly Problem[] {
  const stored: Problem[] = [];
  const counts = { problem: 0, note: 0 };
  for (const each of problems) {
    counts[each.severity] += 1;
    if (counts[each.severity] <= PROBLEMS_LISTED_MAX) stored.push(each);
  }
  for (const severity of ['problem', 'note'] as const) {
    const more = counts[severity] - PROBLEMS_LISTED_MAX;
    if (more <= 0) continue;
    const what = `${more} more ${severity}s`;
    stored.push({ severity, place: [], what, fix: 'fix the listed ones first' });
  }
  return stored;
}
