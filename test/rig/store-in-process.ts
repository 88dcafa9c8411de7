import { text } from 'node:stream/consumers';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import type { KubeCredentials } from '../../src/pipeline/kube/kube-access.ts';
import { openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { Lease } from '../../src/pipeline/kube/lease.ts';

/**
 * Uses a store and a Lease of an API server in a process whose clock is off, and prints what came of it.
 * The standard input says where the server is.
 */
const { server, credentials } = JSON.parse(await text(process.stdin)) as {
  readonly server: string;
  readonly credentials: KubeCredentials;
};
const client = openKubeClient({ server, credentials: async () => credentials });
const store = kubeStore(client);
const { resourceVersion } = await store.list('Diagnosis');
const created = await store.create({
  apiVersion: API_VERSION,
  kind: 'Diagnosis',
  metadata: { name: 'off', namespace: 'default' },
  spec: { operationSet: 'some', nodeName: 'node-1' },
});
await store.updateStatus({ ...created, status: { startTime: new Date().toISOString() } });
const stop = new AbortController();
const events: string[] = [];
for await (const event of store.watch('Diagnosis', { resourceVersion, stop: stop.signal })) {
  events.push(event.type);
  if (events.length === 2) stop.abort();
}
const options = { namespace: 'default', name: 'clock', durationSeconds: 600 };
const mine = await new Lease(client, { ...options, holder: 'off' }).hold();
const taken = await new Lease(client, { ...options, holder: 'another' }).hold();
client.close();
console.log(JSON.stringify({ now: new Date().toISOString(), events, mine, taken }));
