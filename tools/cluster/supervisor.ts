import { builtExecutable } from './import-images.ts';
import { folderOf, writeReady } from './known-clusters.ts';
import { startCluster } from './start-cluster.ts';

/**
 * The process that `up` leaves behind. The cluster lives as long as it does: it ends with a signal,
 * and when it is killed the namespaces end by themselves.
 */
async function keep(
  name: string,
  kubelets: readonly string[],
  { assets, apiServer }: { readonly assets: string; readonly apiServer: string },
): Promise<void> {
  const stopping = new AbortController();
  const stopped = new Promise<void>((settle) => {
    stopping.signal.addEventListener('abort', () => settle());
  });
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stopping.abort());
  const cluster = await startCluster({
    name,
    scratch: folderOf(name),
    log: console.log,
    signal: stopping.signal,
    executable: builtExecutable(),
    nodes: kubelets.map((kubelet) => ({ kubelet })),
    ...(assets ? { assets } : {}),
    ...(apiServer ? { apiServer } : {}),
  });
  await writeReady(cluster);
  await Promise.race([stopped, cluster.ended]);
  await cluster.stop();
}

const [name = '', assets = '', apiServer = '', ...kubelets] = process.argv.slice(2);
await keep(name, kubelets, { assets, apiServer });
