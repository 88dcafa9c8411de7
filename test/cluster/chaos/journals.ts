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
  const concluded = records.flatMap(({ outcome, ...record }) =>
    outcome ? [{ ...record, state: outcome.state }] : [],
  );
  return {
    of: (uid) => {
      const ofDiagnosis = concluded.filter(({ purpose }) => purpose?.startsWith(uid));
      // One that has failed may have changed the node.
      const actions = ofDiagnosis
        .filter(({ state }) => state === 'done' || state === 'failed')
        .map(({ action }) => JSON.stringify(action));
      expect(new Set(actions).size, `${shown} ${actions.join(' ')}`).toBe(actions.length);
      return ofDiagnosis
        .filter(({ state }) => state === 'done')
        .map(({ action }) => JSON.stringify(action));
    },
  };
}

export interface ActionInterval {
  readonly nodeName: string;
  readonly from: number;
  readonly to: number;
}

/** When each action of the nodes began and ended, by their clocks, since this time. */
export function actionsSince(cluster: SharedCluster, since: number): readonly ActionInterval[] {
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
export function overlappingActions(
  actions: readonly ActionInterval[],
): readonly (readonly [ActionInterval, ActionInterval])[] {
  return actions.flatMap((one, index) =>
    actions
      .slice(index + 1)
      .filter(
        (other) => one.nodeName !== other.nodeName && one.from <= other.to && other.from <= one.to,
      )
      .map((other) => [one, other] as const),
  );
}
