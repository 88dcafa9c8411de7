import { expect } from 'vitest';
import { readJournal } from '../../../src/node/repair/journal.ts';
import type { SharedCluster } from '../shared-cluster.ts';

const STATE = '/var/lib/kubediag';

/** What was done on a node, by its journal: nothing twice for the same Diagnosis, and nothing is open. */
export function actionsOn(
  cluster: SharedCluster,
  nodeName: string,
  shown: string,
): { readonly of: (uid: string) => readonly string[] } {
  const { records, unfinished, errors } = readJournal(cluster.node(nodeName).outside(STATE));
  expect({ unfinished, errors }, shown).toEqual({ unfinished: [], errors: [] });
  const done = records.filter(({ outcome }) => outcome?.state === 'done');
  return {
    of: (uid) => {
      const actions = done
        .filter(({ purpose }) => purpose?.startsWith(uid))
        .map(({ action }) => JSON.stringify(action));
      expect(new Set(actions).size, `${shown} ${actions.join(' ')}`).toBe(actions.length);
      return actions;
    },
  };
}

export interface Act {
  readonly nodeName: string;
  readonly from: number;
  readonly to: number;
}

/** When each action of the nodes began and ended, by their clocks, since this time. */
export function actsSince(cluster: SharedCluster, since: number): readonly Act[] {
  return cluster.nodes.flatMap(({ name: nodeName }) => {
    const { records } = readJournal(cluster.node(nodeName).outside(STATE));
    const ends = new Map(
      records.filter(({ event }) => event === 'concluded').map(({ entry, at }) => [entry, at]),
    );
    return records
      .filter(({ event }) => event === 'intended')
      .map(({ entry, at }) => ({
        ...{ nodeName, from: Date.parse(at) },
        to: Date.parse(ends.get(entry) ?? at),
      }))
      .filter(({ from }) => from >= since);
  });
}

/** The pairs of actions that were going on at once, on two nodes. */
export function actsAtOnce(acts: readonly Act[]): readonly (readonly [Act, Act])[] {
  return acts.flatMap((one, index) =>
    acts
      .slice(index + 1)
      .filter(
        (other) => one.nodeName !== other.nodeName && one.from <= other.to && other.from <= one.to,
      )
      .map((other) => [one, other] as const),
  );
}
