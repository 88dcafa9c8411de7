import * as z from 'zod';
import { isNearly } from '../../lib/std/is-nearly.ts';
import { isObject } from '../../lib/std/json.ts';
import type { CommonEventSpec } from './common-event.ts';
import { type StructuralSchema, structuralSchema } from './crd.ts';
import type { DiagnosisSpec } from './diagnosis.ts';
import { METADATA_FIELDS, metadata } from './fields.ts';
import { API_VERSION, GROUP, type Kind, type KindName, kinds } from './kinds.ts';
import { NESTING_MAX, VALUES_MAX } from './limits.ts';
import type { OperationSpec } from './operation.ts';
import type { OperationSetSpec } from './operation-set.ts';
import { listed, note, type Place, type Problem, problem } from './problem.ts';
import { problemOf } from './problem-of-issue.ts';
import type { TriggerSpec } from './trigger.ts';
import { type FieldValidation, unknownFields } from './unknown-fields.ts';

interface Specs {
  readonly Operation: OperationSpec;
  readonly OperationSet: OperationSetSpec;
  readonly Diagnosis: DiagnosisSpec;
  readonly Trigger: TriggerSpec;
  readonly CommonEvent: CommonEventSpec;
}

/** A valid resource, with its defaults filled in. */
export type Resource = {
  readonly [K in KindName]: {
    readonly kind: K;
    readonly metadata: z.output<typeof metadata>;
    readonly spec: Specs[K];
  };
}[KindName];

export interface CheckedResource {
  /** Absent when it is invalid or belongs to another API group. */
  readonly resource?: Resource;
  readonly problems: readonly Problem[];
}

/**
 * Checks one object of a manifest against the schema of its kind. An object of another API group has
 * no problems and is no resource: manifests contain other objects as well. Unknown fields are dropped
 * where they are not an error.
 */
export function checkResource(
  value: unknown,
  validation: FieldValidation = 'Strict',
): CheckedResource {
  if (!isObject(value)) return refused([], 'not an object', 'start with apiVersion and kind');
  const { apiVersion, kind: name } = value;
  if (typeof apiVersion !== 'string' || typeof name !== 'string') {
    const missing = typeof apiVersion === 'string' ? 'kind' : 'apiVersion';
    const fix = `write, for example, "apiVersion: ${API_VERSION}" and "kind: Operation"`;
    return refused([], `${missing} is missing`, fix);
  }
  if (apiVersion === OLD_GROUP) return { problems: [OLD_GROUP_NOTE] };
  if (!isMeantForUs(apiVersion)) return { problems: [] };
  if (apiVersion !== API_VERSION) {
    const part = apiVersion.startsWith(`${GROUP}/`) ? 'version' : 'API group';
    return refused(['apiVersion'], `there is no such ${part}`, `write "${API_VERSION}"`);
  }
  // Upstream KubeDiag creates it for itself, in a version that was never released.
  if (name === 'Task') {
    return { problems: [note(['kind'], 'a Task is not read', 'write a Diagnosis')] };
  }
  const kind = kinds.find((each) => each.kind === name);
  if (!kind) {
    const meant = kinds.find((each) => isNearly(each.kind, name));
    const known = kinds.map((each) => each.kind).join(', ');
    const fix = meant ? `did you mean "${meant.kind}"?` : `use one of ${known}`;
    return refused(['kind'], `there is no kind "${name}"`, fix);
  }
  if (isNestedDeeper(value, NESTING_MAX)) {
    return refused([], `nested more than ${NESTING_MAX} levels deep`, 'write it flatter');
  }
  const size = sizeOf([value.metadata, value.spec]);
  if (size > VALUES_MAX) {
    const what = `${size} values, of at most ${VALUES_MAX}`;
    return refused([], what, 'remove what is not needed, or split the object');
  }
  return checkedAs(kind, value, validation);
}

/** Of our API group, or of one with a typo: diagnosis.kubediag.io. */
export function isMeantForUs(apiVersion: string): boolean {
  const [group = ''] = apiVersion.split('/');
  return group.startsWith('diagnosis.kubediag.') || isNearly(GROUP, group);
}

const OLD_GROUP = 'diagnosis.netease.com/v1';
const OLD_GROUP_NOTE = note(
  ['apiVersion'],
  'resources of KubeDiag v0.1 are not read',
  `write Operations, an OperationSet and a Diagnosis of ${API_VERSION} instead`,
);

function checkedAs(
  kind: Kind,
  given: Readonly<Record<string, unknown>>,
  validation: FieldValidation,
): CheckedResource {
  const value = withoutNulls(given);
  const { form, fields } = formOf(kind);
  const parsed = form.safeParse(value);
  const wrong = parsed.success ? [] : parsed.error.issues.map((issue) => problemOf(issue, value));
  const problems = listed([
    ...wrong,
    ...namelessness(kind, value.metadata),
    ...unknownFields(fields, given, validation),
  ]);
  const isRight = problems.every(({ severity }) => severity === 'note');
  if (!parsed.success || !isRight) return { problems };
  const { metadata: named, spec } = parsed.data;
  return { resource: { kind: kind.kind, metadata: named, spec } as Resource, problems };
}

interface Form {
  readonly form: z.ZodType<{ readonly metadata: unknown; readonly spec: unknown }>;
  readonly fields: StructuralSchema;
}

/** Built once for each kind: a directory may have thousands of manifests of one kind. */
const forms = new Map<Kind, Form>();

function formOf(kind: Kind): Form {
  const form = forms.get(kind) ?? {
    form: z.object({ metadata, spec: kind.spec }),
    fields: { properties: { ...HEAD, spec: structuralSchema(kind.spec) } },
  };
  forms.set(kind, form);
  return form;
}

/** Beside the spec. A status in a manifest is dropped, so its fields are not checked. */
const HEAD: Readonly<Record<string, StructuralSchema>> = {
  apiVersion: {},
  kind: {},
  metadata: { properties: Object.fromEntries(METADATA_FIELDS.map((field) => [field, {}])) },
  status: {},
};

/** A Diagnosis may have a generated name, because nothing refers to it. */
function namelessness({ kind }: Kind, given: unknown): readonly Problem[] {
  if (!isObject(given) || given.name !== undefined) return [];
  if (kind === 'Diagnosis' && given.generateName !== undefined) return [];
  return [problem(['metadata', 'name'], 'missing', 'set the name of the object')];
}

function refused(place: Place, what: string, fix: string): CheckedResource {
  return { problems: [problem(place, what, fix)] };
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1));
}

function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 1);
}

/** A null field counts as absent, as in the API server. */
function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNulls(item)) as T;
  if (!isObject(value)) return value;
  const stored = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(stored.map(([key, inner]) => [key, withoutNulls(inner)])) as T;
}
