import { setTimeout as sleep } from 'node:timers/promises';
import { PLACES } from '../places.ts';
import { startApiStandIn } from './api-stand-in.ts';
import { FILES_LOOK_MS } from './limits.ts';
import { ObjectFiles } from './object-files.ts';
import { ObjectStore } from './object-store.ts';

/** Of the node's own network, so it is never taken. */
export const API_PORT = 8_080;

/** Stands for the API server until it is killed: tells the real kubelet what the files say. */
export async function serveApi(nodeName: string): Promise<never> {
  const store = new ObjectStore();
  const files = new ObjectFiles(PLACES.objects, store, nodeName);
  await files.look();
  await startApiStandIn(store, { port: API_PORT, onDelete: (target) => files.remove(target) });
  for (;;) {
    await sleep(FILES_LOOK_MS);
    await files.look();
  }
}
