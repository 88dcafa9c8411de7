import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { API_VERSION } from '../../../src/pipeline/api/kinds.ts';
import type { SharedCluster } from '../shared-cluster.ts';

/** In the state directory of the executor, which the scripts see too. */
const MARKS = '/var/lib/kubediag/marks-of-scripts';
const HELD = '/var/lib/kubediag/script-is-held';

/** The steps: a script, a built-in diagnosis with its repair, and a second script. */
export const STEPS = {
  begin: 'fleet-begin',
  diagnose: 'stale-subpath-mount-diagnoser',
  repair: 'stale-subpath-mount-recover',
  end: 'fleet-end',
} as const;
export const GRAPH = 'fleet';

/** Each script notes on its node for which Diagnosis it runs. */
export async function applyGraph(cluster: SharedCluster): Promise<void> {
  const { begin, end } = STEPS;
  const isHeld = `while [ -e ${HELD} ]; do sleep 0.2; done`;
  const scripts = {
    [begin]: `echo "begin $1" >>${MARKS}; ${isHeld}`,
    [end]: `echo "end $1" >>${MARKS}`,
  };
  const operations = Object.values(STEPS);
  await cluster.apply(
    ...Object.entries(scripts).map(([name, script]) => ({
      ...{ apiVersion: API_VERSION, kind: 'Operation', metadata: { name } },
      spec: {
        processor: { scriptRunner: { script, argKeys: ['diagnosis.uid'] }, timeoutSeconds: 120 },
      },
    })),
    {
      ...{ apiVersion: API_VERSION, kind: 'OperationSet', metadata: { name: GRAPH } },
      spec: {
        adjacencyList: [
          { to: [1] },
          ...operations.map((operation, at) => ({
            operation,
            ...(at < operations.length - 1 ? { to: [at + 2] } : {}),
          })),
        ],
      },
    },
  );
}

/** What the scripts have noted on a real node: "begin UID", "end UID". */
export function marksOn(cluster: SharedCluster, nodeName: string): readonly string[] {
  const path = cluster.node(nodeName).outside(MARKS);
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
}

/** The first script does not end on this node meanwhile. */
export async function holdScript(cluster: SharedCluster, nodeName: string): Promise<void> {
  await writeFile(cluster.node(nodeName).outside(HELD), '');
}

export async function releaseScript(cluster: SharedCluster, nodeName: string): Promise<void> {
  await rm(cluster.node(nodeName).outside(HELD), { force: true });
}
