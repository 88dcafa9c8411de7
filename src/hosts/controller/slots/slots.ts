import { fieldAt, isObject, numberAt, textAt } from '../../../lib/std/json.ts';
import {
  FAILURES_ANNOTATION,
  MANAGED_BY_LABEL,
  MANAGER,
  RECOVERY_POLICY,
  SLOT_LABEL,
} from '../../../pipeline/api/cluster-names.ts';
import { API_VERSION, RECOVERY_POLICIES } from '../../../pipeline/api/kind-names.ts';
import {
  type RecoveryPolicySpec,
  recoveryPolicyStatus,
} from '../../../pipeline/api/recovery-policy.ts';
import type { RecordedEvent } from '../../../pipeline/kube/event-recorder.ts';
import { Informer } from '../../../pipeline/kube/informer.ts';
import { objectAt } from '../../../pipeline/kube/objects.ts';
import { policyIn } from '../../../pipeline/recovery/seen-policy.ts';
import { slotCount } from '../../../pipeline/recovery/slot-count.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { StoreErrorReason } from '../../../pipeline/store/store-error.ts';
import { gauge } from '../../web/metrics.ts';
import type { ControllerContext } from '../controller-context.ts';
import type { LeaseDigest } from '../digests.ts';
import { followCollectionAt } from '../follow-collection.ts';
import { NOT_ENFORCED_CHECK_MS, RIGHTS_CHECK_MS } from '../limits.ts';
import { openQueue } from '../open-queue.ts';
import { recordEvent } from '../record-event.ts';
import {
  decidePolicyStatus,
  type PolicyStatusDecision,
  unusablePolicyStatus,
} from './decide-policy-status.ts';
import { decideSlots, type Slot, slotsIn } from './decide-slots.ts';
import { type SeenRights, seenRights } from './seen-rights.ts';

const POLICIES = `/apis/${API_VERSION}/${RECOVERY_POLICIES}`;
const POLICY = `${POLICIES}/${RECOVERY_POLICY}`;

const CREATED_AGAIN = {
  type: 'Warning',
  reason: 'RecoveryPolicyCreatedAgain',
  action: 'Created',
  note:
    `RecoveryPolicy ${RECOVERY_POLICY} was deleted and is created again with spec.paused true, because what it forbade ` +
    'is unknown: set its fields as they were, and then spec.paused to false',
} as const;

/** Limits the repairs of the cluster: RecoveryPolicy "default", its status, and a Lease for each slot. */
export async function slots(context: ControllerContext): Promise<void> {
  const part = new SlotsPart(context);
  const queue = openQueue(context, 'slots', () => part.reconcile(), 1);
  const again = () => queue.add(RECOVERY_POLICY);
  const policies = new Informer({
    digest: (object) => textAt(object, 'metadata', 'resourceVersion'),
  });
  policies.onChange(again);
  context.nodes.onChange((_, now, before) => {
    if (!now || !before) again();
  });
  context.leases.onChange((_, now, before) => {
    if (isSlotChange(now, before)) again();
  });
  again();
  await followCollectionAt(POLICIES, policies, context);
}

/** Agents renew the Leases that they hold, which changes nothing here. */
function isSlotChange(now: LeaseDigest | undefined, before: LeaseDigest | undefined): boolean {
  const isSlot = [now, before].some((each) => each && Object.hasOwn(each.labels, SLOT_LABEL));
  const seen = (lease: LeaseDigest | undefined) =>
    JSON.stringify(lease && [lease.holder, lease.annotations, lease.labels]);
  return isSlot && seen(now) !== seen(before);
}

class SlotsPart {
  readonly #context: ControllerContext;
  #rights: SeenRights | undefined;
  #rightsAtMs = 0;
  #last = '';

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  /** Resolves with the time after which to do it again. */
  async reconcile(): Promise<number | undefined> {
    const { client, nodes, leases, namespace, now, onMessage } = this.#context;
    const policy = await objectAt(client, POLICY);
    const slotsNow = (spec: RecoveryPolicySpec) =>
      slotsIn(
        Array.from(leases.entries(), ([, lease]) => lease),
        now(),
        spec,
      );
    if (policy === undefined) return this.#createPolicy(slotsNow({}).length === 0);
    if (!isObject(policy) || fieldAt(policy, 'metadata', 'deletionTimestamp') !== undefined) return;
    // An earlier status that cannot be read is replaced.
    const seen = policyIn({ ...policy, status: {} });
    const before = recoveryPolicyStatus.safeParse(policy.status).data ?? {};
    if (seen.state === 'unusable') {
      // Agents do not repair then.
      onMessage(`RecoveryPolicy ${RECOVERY_POLICY}: ${seen.why}`);
      await this.#report(policy, unusablePolicyStatus(seen, before, now()));
      return RIGHTS_CHECK_MS;
    }
    const rights = await this.#seenRights(before.rightsEnforcedSince);
    const existing = slotsNow(seen.spec);
    const wanted = slotCount(seen.spec.maxConcurrentNodes, nodes.size);
    const { missing, surplus, usable } = decideSlots(existing, wanted);
    for (const name of missing) if (leases.get(`${namespace}/${name}`)) onMessage(unlabelled(name));
    await this.#each(missing, (name) => this.#create(name), 'AlreadyExists');
    await this.#each(existing, (slot) => this.#correct(slot), 'Conflict', 'NotFound');
    const decision = decidePolicyStatus({
      spec: seen.spec,
      before,
      generation: numberAt(policy, 'metadata', 'generation') ?? 0,
      slots: existing,
      usable,
      rights,
      now: now(),
    });
    await this.#report(policy, decision);
    // Not before their failures are in the status.
    await this.#each(surplus, (lease) => this.#remove(lease), 'Conflict', 'NotFound');
    const freeMs = await this.#free(existing, policy);
    const changesMs = (decision.changesAt?.getTime() ?? Infinity) - now().getTime();
    return Math.max(Math.min(changesMs, freeMs, rightsCheckMs(rights)), 1);
  }

  /** If there are slots, somebody has deleted a policy, and what it forbade is not known any more. */
  async #createPolicy(isFirst: boolean): Promise<undefined> {
    const { client, onMessage } = this.#context;
    const metadata = { name: RECOVERY_POLICY, labels: { [MANAGED_BY_LABEL]: MANAGER } };
    const spec = isFirst ? {} : { paused: true };
    const body = { apiVersion: API_VERSION, kind: 'RecoveryPolicy', metadata, spec };
    const created = await client.request({ method: 'POST', path: POLICIES, body });
    // The watch reports it.
    if (isFirst) onMessage(`RecoveryPolicy ${RECOVERY_POLICY}: created`);
    else await this.#record(created, CREATED_AGAIN);
  }

  async #seenRights(before: string | undefined): Promise<SeenRights> {
    const oldMs = performance.now() - this.#rightsAtMs;
    if (this.#rights && oldMs <= rightsCheckMs(this.#rights) / 2) return this.#rights;
    this.#rights = await seenRights(this.#context, before);
    this.#rightsAtMs = performance.now();
    return this.#rights;
  }

  async #report(policy: object, decision: PolicyStatusDecision): Promise<void> {
    const { client, onMessage } = this.#context;
    const { status, isChanged } = decision;
    this.#count(decision);
    if (!isChanged) return;
    await client.request({ method: 'PUT', path: `${POLICY}/status`, body: { ...policy, status } });
    const texts = status.conditions?.map(({ type, message }) => `${type}: ${message}`) ?? [];
    const text = texts.join('\n');
    if (text !== this.#last) {
      for (const each of texts) onMessage(`RecoveryPolicy ${RECOVERY_POLICY}: ${each}`);
    }
    this.#last = text;
  }

  async #create(name: string): Promise<void> {
    const { client, namespace } = this.#context;
    const metadata = { name, namespace, labels: { [SLOT_LABEL]: 'true' } };
    const spec = { holderIdentity: '' };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    await client.request({ method: 'POST', path: this.#leasePath(), body });
  }

  async #correct({ lease: { name, resourceVersion }, correctedAnnotation }: Slot): Promise<void> {
    if (correctedAnnotation === undefined) return;
    const annotations = { [FAILURES_ANNOTATION]: correctedAnnotation };
    await this.#context.client.request({
      ...{ method: 'PATCH', path: this.#leasePath(name) },
      contentType: 'application/merge-patch+json',
      body: { metadata: { resourceVersion, annotations } },
    });
  }

  /** Only if nobody has taken it since, and no failure was added. */
  async #remove({ name, resourceVersion }: LeaseDigest): Promise<void> {
    const preconditions = { resourceVersion };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
    await this.#context.client.request({ method: 'DELETE', path: this.#leasePath(name), body });
  }

  /**
   * Frees a slot whose node is gone: nothing is repaired there any more. Resolves with the time after which
   * another one may be free.
   */
  async #free(existing: readonly Slot[], policy: object): Promise<number> {
    const { client, nodes } = this.#context;
    let againMs = Infinity;
    for (const { lease } of existing) {
      const { holder, name, resourceVersion, durationSeconds, seenAtMs } = lease;
      if (holder === '' || nodes.get(holder)) continue;
      // An agent renews its slot while it repairs, whether or not its Node exists.
      const leftMs = seenAtMs + durationSeconds * 1_000 - performance.now();
      if (leftMs > 0) {
        againMs = Math.min(againMs, leftMs);
        continue;
      }
      // The informer may be behind.
      if (await objectAt(client, `/api/v1/nodes/${encodeURIComponent(holder)}`)) continue;
      const current = await objectAt(client, this.#leasePath(name));
      if (!isObject(current) || textAt(current, 'metadata', 'resourceVersion') !== resourceVersion)
        continue;
      const spec = { ...(isObject(current.spec) ? current.spec : {}), holderIdentity: '' };
      const body = { ...current, spec };
      const freed = await answerOf(
        client.request({ method: 'PUT', path: this.#leasePath(name), body }),
      );
      if (!freed.ok && !['Conflict', 'NotFound'].includes(freed.error.reason)) throw freed.error;
      if (!freed.ok) continue;
      const note = `Lease ${name} is free again: node ${holder}, which held it, does not exist any more`;
      await this.#record(policy, { type: 'Normal', reason: 'SlotFreed', action: 'Freed', note });
    }
    return againMs;
  }

  /** For people: a log line, and an Event of the policy. */
  async #record(policy: unknown, event: Omit<RecordedEvent, 'regarding'>): Promise<void> {
    this.#context.onMessage(event.note);
    const uid = textAt(policy, 'metadata', 'uid');
    const names = { apiVersion: API_VERSION, kind: 'RecoveryPolicy', name: RECOVERY_POLICY };
    await recordEvent(this.#context, { ...event, regarding: { ...names, uid } });
  }

  /** One after another; what another writer has done meanwhile is no error. */
  async #each<T>(
    items: readonly T[],
    write: (item: T) => Promise<void>,
    ...expected: readonly StoreErrorReason[]
  ): Promise<void> {
    for (const item of items) {
      if (this.#context.stop.aborted) return;
      const answer = await answerOf(write(item));
      if (!answer.ok && !expected.includes(answer.error.reason)) throw answer.error;
    }
  }

  #count({ status, isPermitted }: PolicyStatusDecision): void {
    const { metrics } = this.#context;
    const put = (name: string, help: string, value: number) =>
      metrics.set(name, gauge(name, help, value));
    const { slots: usable = 0, nodesInRecovery = [], failures = [] } = status;
    put('kubediag_recovery_slots', 'Nodes that may be in recovery at once.', usable);
    put('kubediag_nodes_in_recovery', 'Nodes in recovery.', nodesInRecovery.length);
    put('kubediag_failed_recoveries', 'Failed recoveries that count.', failures.length);
    const help = 'Whether recoveries may begin now.';
    put('kubediag_recovery_permitted', help, Number(isPermitted));
  }

  #leasePath(name?: string): string {
    const { namespace } = this.#context;
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    return name === undefined ? path : `${path}/${name}`;
  }
}

function rightsCheckMs({ condition }: SeenRights): number {
  return condition.reason === 'PoliciesNotEnforced' ? NOT_ENFORCED_CHECK_MS : RIGHTS_CHECK_MS;
}

function unlabelled(name: string): string {
  const todo = 'delete it, or add the label';
  return `Lease ${name} has the name of a slot but not the label ${SLOT_LABEL}, so no node can use it: ${todo}`;
}
