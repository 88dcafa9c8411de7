import { fieldAt, isObject, numberAt, textAt } from '../../lib/std/json.ts';
import { sleepUntilStopped } from '../store/sleep-until-stopped.ts';
import type { OwnerReference } from '../store/store.ts';
import { answerOf, spread } from '../store/store-answer.ts';
import { StoreError } from '../store/store-error.ts';
import type { KubeClient } from './kube-client.ts';
import { LEASE_CONFLICTS_MAX, LEASE_MS } from './limits.ts';
import { microTime, objectAt } from './objects.ts';

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** Who we are, such as "web-3". */
  readonly holder: string;
  /** Somebody else may take the Lease when it was not renewed for so long. */
  readonly durationSeconds: number;
  readonly labels?: Readonly<Record<string, string>>;
  /** Read when the Lease is created: with its owner Kubernetes deletes it. */
  readonly owner?: () => Promise<OwnerReference>;
  readonly now?: () => Date;
  /** Somebody else creates it, and nobody takes it from a silent holder: only its holder releases it. */
  readonly slot?: LeaseSlot;
}

interface LeaseSlot {
  /**
   * The Lease as it was read: only so it may be acquired. If somebody has written it since, the caller
   * decides again whether it may.
   */
  readonly seen: unknown;
  /** Its annotations at each write; undefined: as they are. */
  readonly annotations: (before: Annotations) => Annotations | undefined;
}

type Annotations = Readonly<Record<string, unknown>>;

export interface SeenLease {
  readonly holder: string;
  readonly durationSeconds: number;
  /** How long we have seen it unchanged. */
  readonly unchangedMs: number;
}

/**
 * What to do with a Lease that is created and acquired when it is free or has expired, or only when it is
 * free, or never. Its times are never compared with our clock, which may be wrong: it has expired when we
 * have seen it unchanged for its duration.
 */
export function decideLease(
  lease: SeenLease | undefined,
  holder: string,
  acquired: 'free-or-expired' | 'free' | 'never' = 'free-or-expired',
): 'create' | 'renew' | 'acquire' | 'wait' {
  const takesExpired = acquired === 'free-or-expired';
  if (!lease) return takesExpired ? 'create' : 'wait';
  if (lease.holder === holder) return 'renew';
  const hasExpired = takesExpired && lease.unchangedMs >= lease.durationSeconds * 1000;
  const isFree = acquired !== 'never' && lease.holder === '';
  return isFree || hasExpired ? 'acquire' : 'wait';
}

/** A Lease that one of several processes holds. Every write is a compare-and-swap. */
export class Lease {
  readonly #client: KubeClient;
  readonly #options: LeaseOptions;
  readonly #now: () => Date;
  /** Our last write, or the object that we were given. */
  #written: unknown;
  #seenVersion: string | undefined;
  #seenAt = 0;
  #heldUntil = 0;

  constructor(client: KubeClient, options: LeaseOptions) {
    this.#client = client;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#written = options.slot?.seen;
  }

  /** Nobody else can hold it now. */
  get isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  /** Acquires or renews it, in one attempt. Says whether we hold it. */
  async hold(): Promise<boolean> {
    for (let conflicts = 0; conflicts < LEASE_CONFLICTS_MAX; conflicts += 1) {
      const begun = performance.now();
      const lease = this.#written ?? (await this.#read());
      const seen = lease === undefined ? undefined : this.#seen(lease);
      const decision = decideLease(seen, this.#me, this.#acquired(lease));
      if (decision === 'wait') return false;
      const answer = await answerOf(this.#write(decision, lease));
      if (answer.ok) {
        this.#written = answer.value;
        this.#heldUntil = begun + this.#options.durationSeconds * 1000;
        return true;
      }
      // Somebody else has written, or our own write had happened although its answer was lost.
      this.#written = undefined;
      const { reason } = answer.error;
      const isOvertaken = ['Conflict', 'AlreadyExists', 'NotFound'].includes(reason);
      if (!isOvertaken) throw answer.error;
    }
    return false;
  }

  /** Lets the next one have it at once. Says whether it was ours until then. */
  async release(): Promise<boolean> {
    this.#heldUntil = 0;
    for (let conflicts = 0; conflicts < LEASE_CONFLICTS_MAX; conflicts += 1) {
      const lease = this.#written ?? (await this.#read());
      this.#written = undefined;
      if (textAt(lease, 'spec', 'holderIdentity') !== this.#me) return false;
      const spec = { ...specOf(lease), holderIdentity: '', renewTime: microTime(this.#now()) };
      const answer = await answerOf(this.#put(lease, spec));
      if (answer.ok) return true;
      const { reason } = answer.error;
      if (reason === 'NotFound') return false;
      if (reason !== 'Conflict') throw answer.error;
    }
    throw new StoreError('Conflict', `Lease ${this.#options.name}: others change it all the time`);
  }

  #acquired(lease: unknown): Parameters<typeof decideLease>[2] {
    const { slot } = this.#options;
    if (!slot) return 'free-or-expired';
    return lease === slot.seen ? 'free' : 'never';
  }

  #read(): Promise<unknown> {
    return objectAt(this.#client, this.#path(), LEASE_MS);
  }

  get #me(): string {
    return this.#options.holder;
  }

  #seen(lease: unknown): SeenLease {
    const version = textAt(lease, 'metadata', 'resourceVersion');
    if (version !== this.#seenVersion) {
      this.#seenVersion = version;
      this.#seenAt = performance.now();
    }
    return {
      holder: textAt(lease, 'spec', 'holderIdentity') ?? '',
      durationSeconds: numberAt(lease, 'spec', 'leaseDurationSeconds') ?? 0,
      unchangedMs: performance.now() - this.#seenAt,
    };
  }

  async #write(decision: 'create' | 'renew' | 'acquire', lease: unknown): Promise<unknown> {
    const { durationSeconds, labels, owner, name, namespace } = this.#options;
    const now = microTime(this.#now());
    const renewed = { leaseDurationSeconds: durationSeconds, renewTime: now };
    if (decision === 'renew') return this.#put(lease, { ...specOf(lease), ...renewed });
    const acquired = { ...renewed, holderIdentity: this.#me, acquireTime: now };
    if (decision === 'acquire') {
      const leaseTransitions = (numberAt(lease, 'spec', 'leaseTransitions') ?? 0) + 1;
      return this.#put(lease, { ...specOf(lease), ...acquired, leaseTransitions });
    }
    const ownerReferences = owner ? [await owner()] : undefined;
    return this.#client.request({
      method: 'POST',
      path: this.#path(''),
      timeoutMs: LEASE_MS,
      body: {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace, labels, ownerReferences },
        spec: { ...acquired, leaseTransitions: 0 },
      },
    });
  }

  #put(lease: unknown, spec: object): Promise<unknown> {
    if (!isObject(lease)) throw new StoreError('ServiceUnavailable', 'Lease: malformed answer');
    const body = { ...lease, ...this.#annotated(lease), spec };
    return this.#client.request({ method: 'PUT', path: this.#path(), body, timeoutMs: LEASE_MS });
  }

  #annotated({ metadata }: { readonly metadata?: unknown }): object {
    if (!isObject(metadata)) return {};
    const before = isObject(metadata.annotations) ? metadata.annotations : {};
    const annotations = this.#options.slot?.annotations(before);
    return annotations ? { metadata: { ...metadata, annotations } } : {};
  }

  #path(name = `/${this.#options.name}`): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#options.namespace}/leases${name}`;
  }
}

function specOf(lease: unknown): object {
  const spec = fieldAt(lease, 'spec');
  return isObject(spec) ? spec : {};
}

interface KeepLeaseOptions {
  readonly intervalMs: number;
  readonly stop: AbortSignal;
  readonly onError?: ((message: string) => void) | undefined;
}

/** Renews a Lease until `stop`, and then releases it. */
export async function keepLease(
  lease: Lease,
  { intervalMs, stop, onError }: KeepLeaseOptions,
): Promise<void> {
  while (!stop.aborted) {
    const answer = await answerOf(lease.hold());
    if (!answer.ok) onError?.(answer.error.message);
    else if (!answer.value) onError?.('another process holds or changes it');
    // A failed attempt is repeated while the Lease is still ours.
    const waitMs = answer.ok ? intervalMs * (0.9 + Math.random() * 0.2) : spread(intervalMs / 4);
    await sleepUntilStopped(waitMs, stop);
  }
  const released = await answerOf(lease.release());
  if (!released.ok) onError?.(released.error.message);
}
