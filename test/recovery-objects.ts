import {
  NAMESPACE,
  RECOVERY_POLICY,
  SLOT_LABEL,
  SLOT_PREFIX,
} from '../src/pipeline/api/cluster-names.ts';
import { API_VERSION } from '../src/pipeline/api/kind-names.ts';
import type {
  RecoveryPolicySpec,
  RecoveryPolicyStatus,
} from '../src/pipeline/api/recovery-policy.ts';

/** The objects of a cluster whose nodes may be repaired, as its controller writes them. */

export function recoveryPolicy(spec: RecoveryPolicySpec = {}) {
  return {
    apiVersion: API_VERSION,
    kind: 'RecoveryPolicy',
    metadata: { name: RECOVERY_POLICY },
    spec,
  };
}

export function observedPolicy(slots: number, generation: number): RecoveryPolicyStatus {
  const message = 'written by a test';
  const at = '2026-01-01T00:00:00Z';
  return {
    slots,
    observedGeneration: generation,
    rightsEnforcedSince: at,
    conditions: [
      {
        ...{ type: 'RightsEnforced', status: 'True', reason: 'PoliciesInstalled', message },
        lastTransitionTime: at,
      },
    ],
  };
}

export function slotLeases(slots: number) {
  return Array.from({ length: slots }, (_, number) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: `${SLOT_PREFIX}${number}`,
      namespace: NAMESPACE,
      labels: { [SLOT_LABEL]: 'true' },
    },
    spec: { holderIdentity: '' },
  }));
}
