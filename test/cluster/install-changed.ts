import { readFile } from 'node:fs/promises';
import { parse, parseAllDocuments, stringify } from 'yaml';
import type { RecoveryPolicySpec } from '../../src/pipeline/api/recovery-policy.ts';
import type { SharedCluster } from './shared-cluster.ts';

const SOON = '--timeout=110s';

/** An object of deploy/kubediag.yaml. */
export interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: unknown };
}

/** Installs KubeDiag with changed objects, and waits until agents and controllers are ready. */
export async function installChanged(
  cluster: SharedCluster,
  changed: (object: Manifest) => Manifest,
): Promise<void> {
  const manifest = await readFile('deploy/kubediag.yaml', 'utf8');
  const objects = parseAllDocuments(manifest).map((document) =>
    changed(document.toJS() as Manifest),
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
}

/** The object, with these settings if it is the policy of the executors. */
export function withExecutorPolicy(object: Manifest, settings: object): Manifest {
  const { kind, data } = object;
  if (kind !== 'ConfigMap' || !data?.['policy.yaml']) return object;
  const policy = parse(data['policy.yaml']) as object;
  return { ...object, data: { ...data, 'policy.yaml': stringify({ ...policy, ...settings }) } };
}

/** Waits for objects that the controller creates, and sets the policy for repairs. */
export async function setRecoveryPolicy(
  cluster: SharedCluster,
  spec: Partial<RecoveryPolicySpec> & { readonly maxConcurrentNodes: number },
  created: readonly string[] = [],
): Promise<void> {
  const policy = 'recoverypolicy/default';
  await cluster.kubectl('wait', '--for=create', policy, ...created, SOON);
  await cluster.kubectl('patch', policy, '--type=merge', `--patch=${JSON.stringify({ spec })}`);
  const slots = `--for=jsonpath={.status.slots}=${spec.maxConcurrentNodes}`;
  await cluster.kubectl('wait', slots, policy, SOON);
}
