import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { kubeconfigAccess } from '../../src/pipeline/kube/kubeconfig.ts';

/**
 * `node diagnosis-times.ts KUBECONFIG NODE COUNT`, on a node of the test cluster: creates Diagnoses of
 * four steps, one after the other, and prints the milliseconds of each from its creation to its end.
 */
const [, , kubeconfig = '', nodeName = '', count = '1'] = process.argv;
/** None of them needs a credential of the kubelet, which an executor does not have. */
const OPERATIONS = ['container', 'process', 'mountInfo'];
const STEPS = [...OPERATIONS, 'container'];

const client = openKubeClient(await kubeconfigAccess(kubeconfig));
const store = kubeStore(client);
for (const name of OPERATIONS) {
  const spec = { processor: { path: `/processor/${name}Collector`, timeoutSeconds: 30 } };
  const metadata = { name: name.toLowerCase() };
  await store.create({ apiVersion: API_VERSION, kind: 'Operation', metadata, spec });
}
const steps = STEPS.map((name, index) => {
  const id = index + 1;
  const to = id < STEPS.length ? { to: [id + 1] } : {};
  return { id, operation: name.toLowerCase(), ...to };
});
await store.create({
  apiVersion: API_VERSION,
  kind: 'OperationSet',
  metadata: { name: 'four' },
  spec: { adjacencyList: [{ id: 0, to: [1] }, ...steps] },
});
const times: number[] = [];
for (let index = 0; index < Number(count); index += 1) times.push(await one(`bench-${index}`));
client.close();
process.stdout.write(`${JSON.stringify(times)}\n`);

async function one(name: string): Promise<number> {
  const stop = new AbortController();
  const { resourceVersion } = await store.list('Diagnosis', { namespace: 'default' });
  const begun = performance.now();
  await store.create({
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace: 'default' },
    spec: { operationSet: 'four', nodeName },
  });
  const watching = { namespace: 'default', resourceVersion, stop: stop.signal };
  for await (const event of store.watch('Diagnosis', watching)) {
    if (event.type === 'BOOKMARK' || event.object.metadata.name !== name) continue;
    const { phase } = event.object.status ?? {};
    if (phase === 'Failed') throw new Error(JSON.stringify(event.object.status));
    if (phase !== 'Succeeded') continue;
    const tookMs = performance.now() - begun;
    stop.abort();
    return tookMs;
  }
  throw new Error('the watch has ended');
}
