import { setTimeout as sleep } from 'node:timers/promises';
import { listAt, textAt } from '../../src/lib/std/json.ts';
import { openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeconfigAccess } from '../../src/pipeline/kube/kubeconfig.ts';
import { objectAt } from '../../src/pipeline/kube/objects.ts';

/**
 * `node condition-changes.ts KUBECONFIG NODE`, on a node of the test cluster: prints the status of the
 * condition NodeFault of a node, and the time, at the start and whenever it changes.
 */
const [, , kubeconfig = '', nodeName = ''] = process.argv;
const EVERY_MS = 100;
const client = openKubeClient(await kubeconfigAccess(kubeconfig));
for (let last = ''; ; ) {
  const node = await objectAt(client, `/api/v1/nodes/${nodeName}`);
  const conditions = listAt(node, 'status', 'conditions') ?? [];
  const ours = conditions.find((each) => textAt(each, 'type') === 'NodeFault');
  const status = textAt(ours, 'status') ?? last;
  if (status !== last) process.stdout.write(`${status} ${Date.now()}\n`);
  last = status;
  await sleep(EVERY_MS);
}
