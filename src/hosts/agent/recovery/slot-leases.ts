import { fieldAt, isObject, textAt } from '../../../lib/std/json.ts';
import {
  FAILURES_ANNOTATION,
  RECOVERY_POLICY,
  SLOT_LABEL,
} from '../../../pipeline/api/cluster-names.ts';
import { API_VERSION, RECOVERY_POLICIES } from '../../../pipeline/api/kind-names.ts';
import type { FailedRecovery } from '../../../pipeline/api/recovery-policy.ts';
import type { KubeClient } from '../../../pipeline/kube/kube-client.ts';
import { Lease } from '../../../pipeline/kube/lease.ts';
import { listPages } from '../../../pipeline/kube/list-pages.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { failuresIn, withFailures } from '../../../pipeline/recovery/failures.ts';
import { policyIn, type SeenPolicy } from '../../../pipeline/recovery/seen-policy.ts';
import { slotNumber } from '../../../pipeline/recovery/slot-name.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import { SLOT_SECONDS } from './limits.ts';

/** A Lease for recovery, as it was read. */
export interface SlotLease {
  readonly name: string;
  readonly number: number;
  /** The node that is in recovery; empty if it is free. */
  readonly holder: string;
  readonly failures: readonly FailedRecovery[];
  readonly object: unknown;
}

interface SlotLeasesOptions {
  readonly client: KubeClient;
  /** The namespace of the Leases. */
  readonly namespace: string;
  readonly nodeName: string;
}

/** The RecoveryPolicy and the slot Leases, read from the API server each time. */
export class SlotLeases {
  readonly #options: SlotLeasesOptions;

  constructor(options: SlotLeasesOptions) {
    this.#options = options;
  }

  async policy(): Promise<SeenPolicy> {
    const path = `/apis/${API_VERSION}/${RECOVERY_POLICIES}/${RECOVERY_POLICY}`;
    const answer = await answerOf(objectAt(this.#options.client, path));
    if (answer.ok) return policyIn(answer.value);
    const why = `the API server does not answer the agent (${answer.error.reason})`;
    return { state: 'unusable', reason: 'RecoveryPolicyMissing', why };
  }

  async list(): Promise<readonly SlotLease[]> {
    const { client, namespace } = this.#options;
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const { items } = await listPages(client, path, { labelSelector: SLOT_LABEL });
    const slots: SlotLease[] = [];
    for await (const item of items) slots.push(...slotIn(item));
    return slots.toSorted((left, right) => left.number - right.number);
  }

  /** With the failures that its next write adds. */
  lease({ name, object }: SlotLease, failures: () => readonly FailedRecovery[]): Lease {
    const { client, namespace, nodeName } = this.#options;
    return new Lease(client, {
      ...{ namespace, name, holder: nodeName, durationSeconds: SLOT_SECONDS },
      slot: {
        seen: object,
        annotations: (before) => {
          const more = failures();
          if (more.length === 0) return undefined;
          const text = withFailures(textAt(before, FAILURES_ANNOTATION), more);
          return { ...before, [FAILURES_ANNOTATION]: text };
        },
      },
    });
  }
}

function slotIn(object: unknown): readonly SlotLease[] {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const number = slotNumber(name);
  if (number === undefined) return [];
  const annotations = fieldAt(object, 'metadata', 'annotations');
  const failures = failuresIn(textAt(annotations, FAILURES_ANNOTATION));
  const holder = textAt(object, 'spec', 'holderIdentity') ?? '';
  return isObject(object) ? [{ name, number, holder, failures, object }] : [];
}
