import { fieldAt, isObject, numberAt } from '../../lib/std/json.ts';
import { structuralSchema } from '../api/crd.ts';
import {
  type RecoveryPolicySpec,
  type RecoveryPolicyStatus,
  recoveryPolicySpec,
  recoveryPolicyStatus,
} from '../api/recovery-policy.ts';
import { unknownFields } from '../api/unknown-fields.ts';

/** The RecoveryPolicy "default" as it was read, or why nobody can go by it. */
export type SeenPolicy =
  | { readonly state: 'unusable'; readonly why: string }
  | {
      readonly state: 'usable';
      readonly spec: RecoveryPolicySpec;
      readonly status: RecoveryPolicyStatus;
      readonly generation: number;
    };

const KNOWN_FIELDS = structuralSchema(recoveryPolicySpec);

/** A policy that cannot be understood completely permits nothing: it may forbid what we do not see. */
export function policyIn(object: unknown): SeenPolicy {
  if (object === undefined) return unusable('it does not exist');
  if (!isObject(object)) return unusable('it is malformed');
  const given = fieldAt(object, 'spec');
  const spec = recoveryPolicySpec.safeParse(given);
  if (!spec.success) return unusable(`its spec is malformed: ${firstOf(spec.error.issues)}`);
  const [unknown] = unknownFields(KNOWN_FIELDS, given, 'Strict');
  if (unknown)
    return unusable(`this version does not know its field spec.${unknown.place.join('.')}`);
  const seen = fieldAt(object, 'status');
  const status = recoveryPolicyStatus.safeParse(seen ?? {});
  if (!status.success) return unusable(`its status is malformed: ${firstOf(status.error.issues)}`);
  const generation = numberAt(object, 'metadata', 'generation') ?? 0;
  return { state: 'usable', spec: spec.data, status: status.data, generation };
}

function unusable(why: string): SeenPolicy {
  return { state: 'unusable', why };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function firstOf([issue]: readonly Issue[]): string {
  return issue ? `${issue.path.map(String).join('.')}: ${issue.message}` : '';
}
