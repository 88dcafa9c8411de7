import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { API_VERSION } from '../../../src/pipeline/api/kinds.ts';
import type { SharedCluster } from '../shared-cluster.ts';
import { type SeenDiagnosis, shownOf, wasTooSlow } from './diagnoses.ts';
import { actionsOn } from './journals.ts';

/** Writes the uid of its Diagnosis into a file of the node. */
const SCRIPT = 'note-run';
const RUNS = '/var/lib/kubediag/runs-of-scripts';

/** Reads pods and mounts, and runs a script. */
export const COLLECT = 'collect';
/** Runs the script only. */
export const NOTE = 'note';

/** OperationSets that change nothing. The agent itself reads pods, from the API server. */
export async function applyCollectors(cluster: SharedCluster): Promise<void> {
  const script = `echo "$1" >> ${RUNS}; sleep 0.5`;
  await cluster.apply(
    {
      ...{ apiVersion: API_VERSION, kind: 'Operation', metadata: { name: SCRIPT } },
      spec: { processor: { scriptRunner: { script, argKeys: ['diagnosis.uid'] } } },
    },
    {
      ...{ apiVersion: API_VERSION, kind: 'OperationSet', metadata: { name: COLLECT } },
      spec: {
        adjacencyList: [
          { id: 0, to: [1] },
          { id: 1, operation: 'pod-list-collector', to: [2] },
          { id: 2, operation: 'mount-info-collector', to: [3] },
          { id: 3, operation: SCRIPT },
        ],
      },
    },
    {
      ...{ apiVersion: API_VERSION, kind: 'OperationSet', metadata: { name: NOTE } },
      spec: {
        adjacencyList: [
          { id: 0, to: [1] },
          { id: 1, operation: SCRIPT },
        ],
      },
    },
  );
}

/** Each has run its script once, or not at all if something prevented it, and has changed nothing. */
export function expectCollected(
  cluster: SharedCluster,
  all: readonly SeenDiagnosis[],
  mayPrevent: boolean,
): void {
  for (const node of cluster.nodes) {
    const path = node.outside(RUNS);
    const runs = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    const timesOf = (uid: string) => runs.filter((line) => line === uid).length;
    const actions = actionsOn(cluster, node.name, 'collectors');
    for (const each of all.filter(({ spec }) => spec.nodeName === node.name)) {
      expect(actions.of(each.metadata.uid), shownOf(each)).toEqual([]);
      expectOnce(each, timesOf(each.metadata.uid), mayPrevent);
    }
  }
}

function expectOnce(seen: SeenDiagnosis, times: number, mayPrevent: boolean): void {
  const shown = shownOf(seen);
  const { phase, steps = [] } = seen.status ?? {};
  expect(phase === 'Succeeded' ? [1] : [0, 1], shown).toContain(times);
  if (phase === 'Succeeded' || mayPrevent || wasTooSlow(seen)) return;
  // Nobody knows how far a script had come that was interrupted: it is not run again.
  expect(
    steps.find(({ outcome }) => outcome === 'Failed'),
    shown,
  ).toMatchObject({
    operation: SCRIPT,
    message: expect.stringMatching(/interrupted when .*not run again/),
  });
}
