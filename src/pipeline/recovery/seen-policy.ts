import { fieldAt, isObject, numberAt } from '../../lib/std/json.ts';
import { structuralSchema } from '../api/crd.ts';
import {
  type RecoveryPolicySpec,
  type RecoveryPolicyStatus,
  recoveryPolicySpec,
  recoveryPolicyStatus,
} from '../api/recovery-policy.ts';
import { unknownFields } from '../api/unknown-fields.ts';

/** The RecoveryPolicy "default" as it was read, or why it permits nothing. */
export type SeenPolicy =
  | {
      readonly state: 'unusable';
      readonly reason: 'RecoveryPolicyMissing' | 'RecoveryPolicyUnusable';
      readonly why: string;
    }
  | {
      readonly state: 'usable';
      readonly spec: RecoveryPolicySpec;
      readonly status: RecoveryPolicyStatus;
      readonly generation: number;
    };

const KNOWN_FIELDS = structuralSchema(recoveryPolicySpec);

/** A policy that cannot be understood completely permits nothing: it may forbid what we do not see. */
export function policyIn(object: unknown): SeenPolicy {
  if (object === undefined) {
    return { state: 'unusable', reason: 'RecoveryPolicyMissing', why: 'not found' };
  }
  if (!isObject(object)) return unusable('malformed');
  const given = fieldAt(object, 'spec');
  const spec = recoveryPolicySpec.safeParse(given);
  if (!spec.success) return unusable(firstOf('spec', spec.error.issues));
  const [unknown] = unknownFields(KNOWN_FIELDS, given, 'Strict');
  if (unknown) return unusable(`unknown field spec.${unknown.place.join('.')}`);
  const seen = fieldAt(object, 'status');
  const status = recoveryPolicyStatus.safeParse(seen ?? {});
  if (!status.success) return unusable(firstOf('status', status.error.issues));
  const generation = numberAt(object, 'metadata', 'generation') ?? 0;
  return { state: 'usable', spec: spec.data, status: status.data, generation };
}

function unusable(why: string): SeenPolicy {
  return { state: 'unusable', reason: 'RecoveryPolicyUnusable', why };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

// spec.maxConcurrentNodes: not a number of nodes
function firstOf(field: 'spec' | 'status', [issue]: readonly Issue[]): string {
  const { path = [], message = 'malformed' } = issue ?? {};
  return `${[field, ...path.map(String)].join('.')}: ${message}`;
}
