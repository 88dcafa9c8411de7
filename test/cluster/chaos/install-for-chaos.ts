import { FAILURES_LISTED_MAX } from '../../../src/pipeline/api/limits.ts';
import {
  installChanged,
  type Manifest,
  setRecoveryPolicy,
  withExecutorPolicy,
} from '../install-changed.ts';
import type { SharedCluster } from '../shared-cluster.ts';
import { installClocks, withClocks } from './fake-clocks.ts';

const POLICY = 'recoverypolicy/default';
/** Those that are made here. */
const FAULTS = ['stale-subpath-mount', 'dead-volume-mount'];

/**
 * Installs KubeDiag with two changes: the executors permit as many actions as a long run needs, and
 * scripts; and each container has a clock that can be set.
 */
export async function installForChaos(cluster: SharedCluster): Promise<void> {
  await installClocks(cluster);
  await installChanged(cluster, changedForChaos);
  // One node at a time. Repairs fail here, and should not stop.
  const spec = { maxConcurrentNodes: 1, stopAfterFailures: FAILURES_LISTED_MAX };
  const sets = FAULTS.map((fault) => `operationset/${fault}`);
  await setRecoveryPolicy(cluster, spec, sets);
}

/** As a person does who has found out why they failed. */
export async function resetFailures(cluster: SharedCluster): Promise<void> {
  const spec = { failuresResetTime: `${new Date().toISOString().slice(0, 19)}Z` };
  await cluster.kubectl('patch', POLICY, '--type=merge', `--patch=${JSON.stringify({ spec })}`);
}

function changedForChaos(object: Manifest): Manifest {
  const { kind, spec } = object;
  if (spec && ['DaemonSet', 'Deployment'].includes(kind)) {
    const template = spec.template as { readonly spec: Parameters<typeof withClocks>[0] };
    return {
      ...object,
      spec: { ...spec, template: { ...template, spec: withClocks(template.spec) } },
    };
  }
  return withExecutorPolicy(object, { actionsPerHour: 1_000, scripts: 'Allow' });
}
