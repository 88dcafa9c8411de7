import { listAt, textAt } from '../../src/lib/std/json.ts';
import { openKubeClient } from '../../src/pipeline/kube/kube-client.ts';
import { kubeconfigAccess } from '../../src/pipeline/kube/kubeconfig.ts';

/**
 * `node condition-changes.ts KUBECONFIG NODE`, on a node of the test cluster: prints the status of the
 * condition NodeFault of a node, and the time, at the start and whenever it changes.
 */
const [, , kubeconfig = '', nodeName = ''] = process.argv;
const client = openKubeClient(await kubeconfigAccess(kubeconfig));
const query = { fieldSelector: `metadata.name=${nodeName}` };
let last = '';
for (;;) {
  // A watch without a version begins with the object as it is.
  for await (const event of client.watch('/api/v1/nodes', query, new AbortController().signal)) {
    const conditions = listAt(event, 'object', 'status', 'conditions') ?? [];
    const ours = conditions.find((each) => textAt(each, 'type') === 'NodeFault');
    const status = textAt(ours, 'status') ?? last;
    if (status !== last) process.stdout.write(`${status} ${Date.now()}\n`);
    last = status;
  }
}
