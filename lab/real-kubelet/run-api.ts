import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { PLACES } from '../places.ts';
import { startApiStandIn } from './api-stand-in.ts';
import { knownNode } from './known-node.ts';
import { FILES_POLL_MS } from './limits.ts';
import { ObjectFiles } from './object-files.ts';
import { ObjectStore } from './object-store.ts';

/** Of the node's own network, so it is never taken. */
export const API_PORT = 8_080;

/** The part "api" of a practice node: tells a real kubelet what the files say, until it is killed. */
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
