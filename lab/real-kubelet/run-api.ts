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

/** Until its kubelet has counted: pods are refused for what a node lacks. */
const ROOM = { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi', pods: '110' };

/**
 * The node as the controller of a cloud makes it known: there before its kubelet is, and with its
 * address. A kubelet that has to find one by itself wants one that others can reach, and this node is
 * reached by nobody. Pods that start before the address is known differ from later ones.
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
    status: { addresses, capacity: ROOM, allocatable: ROOM },
  };
}
