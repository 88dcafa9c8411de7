import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { PLACES } from '../places.ts';
import { startApiStandIn } from './api-stand-in.ts';
import { FILES_POLL_MS } from './limits.ts';
import { ObjectFiles } from './object-files.ts';
import { ObjectStore, type StoredObject } from './object-store.ts';

/** In the node's own network, so it is always free. */
export const API_PORT = 8_080;

/** The part "api" of a practice node: serves the objects of the files to a real kubelet. */
export async function runApi(): Promise<void> {
  await mkdir(PLACES.objects, { recursive: true });
  const store = new ObjectStore();
  const name = hostname();
  store.put({ resource: 'nodes', name }, knownNode(name));
  const files = new ObjectFiles(PLACES.objects, store, name);
  await files.poll();
  await startApiStandIn(store, { port: API_PORT, onDelete: (target) => files.remove(target) });
  process.stdout.write('ready\n');
  for (;;) {
    await sleep(FILES_POLL_MS);
    await files.poll();
  }
}

/** Until the kubelet has reported its capacity: pods without resources are rejected. */
const CAPACITY = { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi', pods: '110' };

/**
 * The Node object as a cloud controller would create it: before its kubelet starts, and with an
 * address. A kubelet would search for an address that others can reach, and this node has none.
 * Pods that start before the address is known differ from later ones.
 */
function knownNode(name: string): StoredObject {
  const addresses = [
    { type: 'InternalIP', address: '127.0.0.1' },
    { type: 'Hostname', address: name },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
    spec: {},
    status: { addresses, capacity: CAPACITY, allocatable: CAPACITY },
  };
}
