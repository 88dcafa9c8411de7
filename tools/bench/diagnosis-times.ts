import { API_VERSION } from '../../src/pipeline/api/kind-names.ts';
import { openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeStore } from '../../src/pipeline/kube/kube-store.ts';
import { kubeconfigAccess } from '../../src/pipeline/kube/kubeconfig.ts';

/**
 * `node diagnosis-times.ts KUBECONFIG NODE POD OPERATIONSET COUNT`, on a node of the test cluster: creates
 * Diagnoses of a pod, one after the other, and prints the milliseconds of each from its creation to its
 * end. They are dry runs, so that the pod needs the same repair each time.
 */
const [, , kubeconfig = '', nodeName = '', name = '', operationSet = '', count = ''] = process.argv;
const namespace = 'default';

const client = openKubeClient(await kubeconfigAccess(kubeconfig));
const store = kubeStore(client);
const times: number[] = [];
for (let index = 0; index < Number(count); index += 1) times.push(await one(`bench-${index}`));
client.close();
process.stdout.write(`${JSON.stringify(times)}\n`);

async function one(diagnosis: string): Promise<number> {
  const stop = new AbortController();
  const { resourceVersion } = await store.list('Diagnosis', { namespace });
  const podReference = { namespace, name };
  const begun = performance.now();
  await store.create({
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name: diagnosis, namespace },
    spec: { operationSet, nodeName, podReference, dryRun: true },
  });
  const watching = { namespace, resourceVersion, stop: stop.signal };
  for await (const event of store.watch('Diagnosis', watching)) {
    if (event.type === 'BOOKMARK' || event.object.metadata.name !== diagnosis) continue;
    const { phase } = event.object.status ?? {};
    if (phase === 'Failed') throw new Error(JSON.stringify(event.object.status));
    if (phase !== 'Succeeded') continue;
    const tookMs = performance.now() - begun;
    stop.abort();
    return tookMs;
  }
  throw new Error('the watch has ended');
}
