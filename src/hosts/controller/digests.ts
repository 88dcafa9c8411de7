import { fieldAt, isObject, listAt, numberAt, textAt } from '../../lib/std/json.ts';
import { NODE_CONDITION, PARENT_LABEL } from '../../pipeline/api/cluster-names.ts';
import { hasEnded } from '../../pipeline/api/has-ended.ts';
import { API_VERSION } from '../../pipeline/api/kind-names.ts';
import { MESSAGE_CHARACTERS_MAX } from './limits.ts';

/** What is remembered of a Diagnosis. */
export interface DiagnosisDigest {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isDeleted: boolean;
  readonly operationSet: string;
  readonly nodeName: string | undefined;
  readonly hasPodReference: boolean;
  readonly hasTargetSelector: boolean;
  /** The uid of the Diagnosis that it belongs to, as its label and its owner reference both say. */
  readonly parentUid: string | undefined;
  readonly isCancelled: boolean;
  readonly isSuspended: boolean;
  readonly deadlineSeconds: number | undefined;
  readonly ttlSeconds: number | undefined;
  readonly phase: string;
  readonly result: string | undefined;
  readonly createdTime: string;
  readonly startTime: string | undefined;
  /** When it ended, on our own clock (`performance.now`). */
  readonly endedAtMs: number | undefined;
  /** Why it failed. */
  readonly failure: string | undefined;
  /** Its conditions that are True. */
  readonly trueConditions: ReadonlySet<string>;
}

export function diagnosisDigest(
  object: unknown,
  before?: DiagnosisDigest,
  now = new Date(),
): DiagnosisDigest {
  const metadata = fieldAt(object, 'metadata');
  if (before && isSame(before, metadata)) return before;
  const spec = fieldAt(object, 'spec');
  const status = fieldAt(object, 'status');
  const conditions = (listAt(status, 'conditions') ?? []).filter(
    (each) => textAt(each, 'status') === 'True',
  );
  const failed = conditions.find((each) => textAt(each, 'type') === 'Failed') ?? conditions.at(-1);
  const phase = textAt(status, 'phase') ?? '';
  const message = phase === 'Failed' ? textAt(failed, 'message') : undefined;
  return {
    namespace: textAt(metadata, 'namespace') ?? '',
    name: textAt(metadata, 'name') ?? '',
    uid: textAt(metadata, 'uid') ?? '',
    resourceVersion: textAt(metadata, 'resourceVersion') ?? '',
    isDeleted: textAt(metadata, 'deletionTimestamp') !== undefined,
    operationSet: textAt(spec, 'operationSet') ?? '',
    nodeName: textAt(spec, 'nodeName') || undefined,
    hasPodReference: isObject(fieldAt(spec, 'podReference')),
    hasTargetSelector: isObject(fieldAt(spec, 'targetSelector')),
    parentUid: parentUidIn(metadata),
    isCancelled: fieldAt(spec, 'cancel') === true,
    isSuspended: fieldAt(spec, 'suspend') === true,
    deadlineSeconds: numberAt(spec, 'deadlineSeconds'),
    ttlSeconds: numberAt(spec, 'ttlSecondsAfterFinished'),
    phase,
    result: textAt(status, 'result'),
    createdTime: textAt(metadata, 'creationTimestamp') ?? '',
    startTime: textAt(status, 'startTime'),
    endedAtMs: hasEnded(phase) ? endedAtMs(metadata, status, before, now) : undefined,
    failure: message?.slice(0, MESSAGE_CHARACTERS_MAX),
    trueConditions: new Set(conditions.flatMap((each) => textAt(each, 'type') ?? [])),
  };
}

/**
 * If this process saw the Diagnosis before its end, it ended now. Otherwise endTime counts: leaders change
 * more often than a TTL of days passes. A process that begins to lead with a clock that is ahead deletes it early.
 */
function endedAtMs(
  metadata: unknown,
  status: unknown,
  before: DiagnosisDigest | undefined,
  now: Date,
): number {
  const atMs = performance.now();
  if (before && before.uid === textAt(metadata, 'uid')) return before.endedAtMs ?? atMs;
  // An agent whose clock is behind ended it after its creation all the same.
  const times = [textAt(status, 'endTime'), textAt(metadata, 'creationTimestamp')];
  const agoMs = now.getTime() - Math.max(...times.map((time = '') => Date.parse(time)));
  return agoMs > 0 ? atMs - agoMs : atMs;
}

function isSame({ uid, resourceVersion }: DiagnosisDigest, metadata: unknown): boolean {
  const isSameObject = textAt(metadata, 'uid') === uid;
  return isSameObject && textAt(metadata, 'resourceVersion') === resourceVersion;
}

/** A label alone can be forged, and an owner that is no controller does not answer for it. */
function parentUidIn(metadata: unknown): string | undefined {
  const uid = textAt(metadata, 'labels', PARENT_LABEL);
  const owner = (listAt(metadata, 'ownerReferences') ?? []).find(
    (each) => fieldAt(each, 'controller') === true,
  );
  const isOwned =
    textAt(owner, 'uid') === uid &&
    textAt(owner, 'kind') === 'Diagnosis' &&
    textAt(owner, 'apiVersion') === API_VERSION;
  return isOwned ? uid : undefined;
}

export interface NodeDigest {
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether an agent has written its condition. */
  readonly hasFaultCondition: boolean;
}

export function nodeDigest(object: unknown): NodeDigest {
  const labels = fieldAt(object, 'metadata', 'labels');
  const conditions = listAt(object, 'status', 'conditions') ?? [];
  return {
    name: textAt(object, 'metadata', 'name') ?? '',
    uid: textAt(object, 'metadata', 'uid') ?? '',
    labels: isObject(labels) ? (labels as Readonly<Record<string, string>>) : {},
    hasFaultCondition: conditions.some((each) => textAt(each, 'type') === NODE_CONDITION),
  };
}

export interface LeaseDigest {
  readonly name: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly holder: string;
  readonly durationSeconds: number;
  readonly acquireTime: string | undefined;
  /** This version, on our own clock (`performance.now`): clocks of other machines may be wrong. */
  readonly seenAtMs: number;
}

export function leaseDigest(object: unknown, before?: LeaseDigest): LeaseDigest {
  const resourceVersion = textAt(object, 'metadata', 'resourceVersion') ?? '';
  // Listed again, it is no younger.
  if (before?.resourceVersion === resourceVersion) return before;
  const map = (name: string) => {
    const value = fieldAt(object, 'metadata', name);
    return isObject(value) ? (value as Readonly<Record<string, string>>) : {};
  };
  return {
    name: textAt(object, 'metadata', 'name') ?? '',
    resourceVersion,
    labels: map('labels'),
    annotations: map('annotations'),
    holder: textAt(object, 'spec', 'holderIdentity') ?? '',
    durationSeconds: numberAt(object, 'spec', 'leaseDurationSeconds') ?? 0,
    acquireTime: textAt(object, 'spec', 'acquireTime'),
    seenAtMs: performance.now(),
  };
}
