import { inject } from 'vitest';
import type { Cluster } from '../../tools/cluster/cluster.ts';
import { folderOf, markOf, write, writeReady } from '../../tools/cluster/known-clusters.ts';
import { startCluster } from '../../tools/cluster/start-cluster.ts';

type Options = Omit<Parameters<typeof startCluster>[0], 'name' | 'scratch'>;

/** A cluster of one file of the suite, which has to stop it. */
export async function ownCluster(suffix: string, options: Options): Promise<Cluster> {
  const name = `${inject('clustersOfRun')}-${suffix}`;
  // Written down before there is anything, so that it is found whenever we are killed.
  await write({ name, supervisor: markOf(process.pid) });
  const cluster = await startCluster({ ...options, name, scratch: folderOf(name) });
  await writeReady(cluster);
  return cluster;
}
