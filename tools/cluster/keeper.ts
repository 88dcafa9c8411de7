import { folderOf, markOf, write } from './known-clusters.ts';
import { startCluster } from './start-cluster.ts';

/**
 * The process that `up` leaves behind. The cluster lives as long as it does: it ends with a signal,
 * and when it is killed the namespaces end by themselves.
 */
async function keep(name: string, kubelet: string, assets: string): Promise<void> {
  const keeper = markOf(process.pid);
  const stopping = new AbortController();
  const stopped = new Promise<void>((settle) => {
    stopping.signal.addEventListener('abort', () => settle());
  });
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stopping.abort());
  const cluster = await startCluster({
    name,
    scratch: folderOf(name),
    say: console.log,
    signal: stopping.signal,
    ...(kubelet ? { kubelet } : {}),
    ...(assets ? { assets } : {}),
  });
  const parts = Object.values(cluster.parts).map((part) => [part.name, markOf(part.pid)] as const);
  await write({
    name,
    keeper,
    ready: {
      first: markOf(cluster.pid),
      enter: cluster.enter,
      kubeconfig: cluster.kubeconfig,
      programs: cluster.programs,
      logs: cluster.logs,
      image: cluster.image,
      kubeletVersion: cluster.kubeletVersion,
      parts: Object.fromEntries(parts),
    },
  });
  await Promise.race([stopped, cluster.ended]);
  await cluster.stop();
}

const [name = '', kubelet = '', assets = ''] = process.argv.slice(2);
await keep(name, kubelet, assets);
