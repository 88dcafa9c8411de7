import { fieldAt, textAt } from '../src/lib/std/json.ts';
import { FAILURES_ANNOTATION } from '../src/pipeline/api/cluster-names.ts';
import type { RecoveryPolicySpec } from '../src/pipeline/api/recovery-policy.ts';
import type { OperationResult } from '../src/pipeline/steps/operation-result.ts';
import type { RunStep } from '../src/pipeline/steps/step-to-run.ts';
import { observedPolicy, recoveryPolicy, slotLeases } from './recovery-objects.ts';
import { SyntheticApiServer } from './synthetic-api-server.ts';

export const POLICY = '/apis/diagnosis.kubediag.org/v1/recoverypolicies/default';
export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kubediag/leases';

export const DONE: OperationResult = { succeeded: true, results: {} };
export const NO_EFFECT: OperationResult = {
  succeeded: false,
  message: 'no effect',
  record: { actions: [{ kind: 'unmount', state: 'no-effect' }] },
};

/** With a policy, and as many free slots. */
export function apiServer(slots: number, spec: RecoveryPolicySpec = {}): SyntheticApiServer {
  const api = new SyntheticApiServer();
  permit(api, slots, spec);
  for (const lease of slotLeases(slots)) api.put(`${LEASES}/${lease.metadata.name}`, lease);
  return api;
}

export function permit(
  api: SyntheticApiServer,
  slots: number,
  spec: RecoveryPolicySpec,
  generation = 1,
): void {
  const policy = recoveryPolicy({ maxConcurrentNodes: 100, ...spec });
  const metadata = { ...policy.metadata, generation };
  api.put(POLICY, { ...policy, metadata, status: observedPolicy(slots, generation) });
}

export function holders(api: SyntheticApiServer): readonly (string | undefined)[] {
  return [...api.objects]
    .filter(([path]) => path.startsWith(LEASES))
    .map(([, lease]) => textAt(lease, 'spec', 'holderIdentity'));
}

export function hold(api: SyntheticApiServer, slot: number, holderIdentity: string): void {
  const path = `${LEASES}/kubediag-recovery-${slot}`;
  api.put(path, { ...api.objects.get(path), spec: { holderIdentity } });
}

export function failures(api: SyntheticApiServer, slot = 0): readonly unknown[] {
  const lease = api.objects.get(`${LEASES}/kubediag-recovery-${slot}`);
  const text = textAt(fieldAt(lease, 'metadata', 'annotations'), FAILURES_ANNOTATION);
  return JSON.parse(text ?? '[]') as readonly unknown[];
}

/** A step that runs until it is released. */
export function gate() {
  const [begun, open] = [Promise.withResolvers<void>(), Promise.withResolvers<OperationResult>()];
  const run: RunStep = () => {
    begun.resolve();
    return open.promise;
  };
  return { run, begun: begun.promise, end: open.resolve };
}

/** A step that runs until no further action may begin. */
export const untilStopped: RunStep = async ({ stop }) => {
  const stopped = Promise.withResolvers<void>();
  stop.addEventListener('abort', () => stopped.resolve());
  await stopped.promise;
  return DONE;
};
