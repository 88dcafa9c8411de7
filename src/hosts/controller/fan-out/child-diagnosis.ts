import { defined } from '../../../lib/std/defined.ts';
import { shortHash } from '../../../lib/std/short-hash.ts';
import { PARENT_LABEL, PARENT_NAME_LABEL } from '../../../pipeline/api/cluster-names.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../../../pipeline/api/diagnosis.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import { API_VERSION } from '../../../pipeline/api/kind-names.ts';
import { NAME_CHARACTERS_MAX } from '../../../pipeline/api/limits.ts';
import { namedPod } from '../../../pipeline/api/named-pod.ts';
import type { NewObject, StoredObject } from '../../../pipeline/store/store.ts';
import type { DiagnosisDigest } from '../digests.ts';
import { HASH_DIGITS, LABEL_CHARACTERS_MAX } from './limits.ts';

/** Whether it names nodes for Diagnoses of their own. A single target is more precise, and wins. */
export function isParent(
  digest: Pick<DiagnosisDigest, 'hasTargetSelector' | 'hasPodReference' | 'nodeName'>,
): boolean {
  return digest.hasTargetSelector && !digest.hasPodReference && digest.nodeName === undefined;
}

/**
 * The same for every controller, so that two of them cannot create two for one node. Another one for a
 * later parent of this name: kubectl deletes a parent before its children.
 */
export function childName(
  { name, uid }: Pick<StoredObject['metadata'], 'name' | 'uid'>,
  nodeName: string,
): string {
  const hash = shortHash(`${uid}/${nodeName}`, HASH_DIGITS);
  const head = name.slice(0, NAME_CHARACTERS_MAX - HASH_DIGITS - 1);
  // "web." would give the invalid name "web.-0a1b2c3d4e".
  return `${head.replace(/[-.]+$/, '')}-${hash}`;
}

/** The Diagnosis of one node. It needs an approval of its own, and goes with its parent. */
export function childOf({ metadata, spec: parentSpec }: StoredObject, nodeName: string): NewObject {
  const { namespace = '', name, uid } = metadata;
  const given = parentSpec as DiagnosisSpec;
  const pod = namedPod(given);
  const {
    targetSelector: _,
    ttlSecondsAfterFinished: __,
    approvedPlan: ___,
    cancel: ____,
    ...spec
  } = given;
  return {
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: {
      namespace,
      name: childName(metadata, nodeName),
      labels: { [PARENT_LABEL]: uid, [PARENT_NAME_LABEL]: labelText(name) },
      ownerReferences: [
        {
          apiVersion: API_VERSION,
          kind: 'Diagnosis',
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: defined({ ...spec, nodeName, podReference: pod }),
  };
}

/** Whether this Diagnosis is the one of a node: names and labels can be forged, or taken before us. */
export function isChildOf(
  digest: DiagnosisDigest,
  parent: { readonly uid: string; readonly operationSet: string },
  nodeName: string,
): boolean {
  const { parentUid, operationSet } = digest;
  const isOurs = parentUid === parent.uid && operationSet === parent.operationSet;
  return isOurs && digest.nodeName === nodeName;
}

/** When the Diagnosis ends in any case; undefined without a deadline or before its start. */
export function deadlineOf(
  { deadlineSeconds }: Pick<DiagnosisSpec, 'deadlineSeconds'>,
  { startTime }: Pick<DiagnosisStatus, 'startTime'>,
): number | undefined {
  if (deadlineSeconds === undefined || startTime === undefined) return undefined;
  return Date.parse(startTime) + deadlineSeconds * 1_000;
}

/** What to change in the spec of a child, as a merge patch; undefined if nothing. */
export function childPatch(
  child: DiagnosisDigest,
  spec: DiagnosisSpec,
  isStopping: boolean,
): Readonly<Record<string, unknown>> | undefined {
  if (hasEnded(child.phase) || child.isDeleted) return undefined;
  if (isStopping) return child.isCancelled ? undefined : { cancel: true };
  const { suspend = false, deadlineSeconds } = spec;
  const patch = {
    ...(child.isSuspended === suspend ? {} : { suspend }),
    // In seconds and not as a time: the clocks of nodes differ. When the parent ends, its children are cancelled.
    ...(child.deadlineSeconds === deadlineSeconds
      ? {}
      : { deadlineSeconds: deadlineSeconds ?? null }),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** A value of a label is shorter than a name may be. */
function labelText(name: string): string {
  return name.slice(0, LABEL_CHARACTERS_MAX).replace(/[-.]+$/, '');
}
