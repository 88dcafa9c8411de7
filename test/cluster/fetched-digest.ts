import type { SharedCluster } from './shared-cluster.ts';

/** SHA-256 of what the command in a status fetches through the API server. */
export async function fetchedDigest(cluster: SharedCluster, message: string): Promise<string> {
  const [command = 'false'] = /kubectl get --raw '[^']+'/.exec(message) ?? [];
  const script = `set -o pipefail; ${command} | sha256sum`;
  const { code, stdout, stderr } = await cluster.run(['bash', '-c', script]);
  if (code !== 0) throw new Error(stderr);
  return stdout.slice(0, 64);
}
