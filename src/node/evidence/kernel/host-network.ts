import type { Snapshot } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';

/** Files below /proc/sys/net show the network namespace of the reader. Throws unless that is the node's own. */
export async function requireHostNetwork({ node }: Pick<Snapshot, 'node'>): Promise<void> {
  const path = '/proc/1/ns/net';
  const host = await node.ask('link', { path });
  const own = await node.ask('link', { path: '/proc/self/ns/net' });
  if (own === host) return;
  const detail =
    'kubediag runs in another network namespace: use hostNetwork, or run it on the node';
  throw new ReadError('unsupported', path, detail);
}
