import { readFile } from 'node:fs/promises';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { SharedCluster } from '../shared-cluster.ts';
import { layClocks, withClocks } from './fake-clocks.ts';

/** Those that are made here. */
const FAULTS = ['stale-subpath-mount', 'dead-volume-mount'];
const SOON = '--timeout=110s';

/**
 * Installs KubeDiag with two changes: the executors permit as many actions as a long run needs, and
 * scripts; and each container has a clock that can be set.
 */
export async function installForChaos(cluster: SharedCluster): Promise<void> {
  await layClocks(cluster);
  const manifest = await readFile('deploy/kubediag.yaml', 'utf8');
  const objects = parseAllDocuments(manifest).map((document) =>
    changedForChaos(document.toJS() as Manifest),
  );
  const input = objects.map((object) => stringify(object)).join('---\n');
  const apply = ['kubectl', 'apply', '--server-side', '--filename=-'];
  const applied = await cluster.run(apply, { input });
  if (applied.code !== 0) throw new Error(applied.stderr);
  const ours = ['--namespace=kubediag', SOON];
  for (const workload of ['daemonset/kubediag-agent', 'deployment/kubediag-controller']) {
    const { code, stderr } = await cluster.run(['kubectl', 'rollout', 'status', workload, ...ours]);
    if (code === 0) continue;
    const pods = await cluster.kubectl('describe', 'pods', '--namespace=kubediag');
    throw new Error(`${workload} is not ready: ${stderr}\n${pods}`);
  }
  await waitForController(cluster);
}

/** It makes the policy and the built-in OperationSets. */
async function waitForController(cluster: SharedCluster): Promise<void> {
  const made = ['recoverypolicy/default', ...FAULTS.map((fault) => `operationset/${fault}`)];
  await cluster.kubectl('wait', '--for=create', ...made, SOON);
  // One node at a time. Repairs fail here, and those that failed count up to this time only.
  const spec = { maxConcurrentNodes: 1, failuresResetTime: '2100-01-01T00:00:00Z' };
  const patch = `--patch=${JSON.stringify({ spec })}`;
  await cluster.kubectl('patch', 'recoverypolicy/default', '--type=merge', patch);
  await cluster.kubectl('wait', '--for=jsonpath={.status.slots}=1', 'recoverypolicy/default', SOON);
}

interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template: { readonly spec: Parameters<typeof withClocks>[0] } };
}

function changedForChaos(object: Manifest): Manifest {
  const { kind, data, spec } = object;
  if (spec && ['DaemonSet', 'Deployment'].includes(kind)) {
    const template = { ...spec.template, spec: withClocks(spec.template.spec) };
    return { ...object, spec: { ...spec, template } };
  }
  if (kind !== 'ConfigMap' || !data?.['policy.yaml']) return object;
  const policy = parse(data['policy.yaml']) as object;
  const changed = stringify({ ...policy, actionsPerHour: 1_000, scripts: 'Allow' });
  return { ...object, data: { ...data, 'policy.yaml': changed } };
}
