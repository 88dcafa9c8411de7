import * as z from 'zod';
import { isObject } from '../../lib/std/json.ts';
import { diagnosisSpec, diagnosisStatus } from '../api/diagnosis.ts';
import { podReference } from '../api/fields.ts';
import {
  ARGUMENTS_MAX,
  CA_BUNDLE_CHARACTERS_MAX,
  CODE_FILES_MAX,
  NAME_CHARACTERS_MAX,
  RETRIES_MAX,
  TIMEOUT_SECONDS_MAX,
  PATH_CHARACTERS_MAX as URL_PATH_CHARACTERS_MAX,
} from '../api/limits.ts';
import type { Processor } from '../api/processor-of.ts';
import {
  INPUT_PAIRS_MAX,
  LARGE_INPUT_MAX,
  PATH_CHARACTERS_MAX,
  PLANNED_ACTIONS_MAX,
  PURPOSE_CHARACTERS_MAX,
  UIDS_MAX,
} from './limits.ts';

/**
 * Everything that an agent may request. A field that is not listed is refused. Zod makes an issue of each
 * wrong value in a list or a map: those of one message would fill the memory, so they are limited first.
 */

const name = z.string().max(NAME_CHARACTERS_MAX);
const uid = z.guid();
const purpose = z.string().min(1).max(PURPOSE_CHARACTERS_MAX);
/** Absent: no limit. */
const restMs = z.number().positive().exactOptional();
const timeoutSeconds = z.int().min(1).max(TIMEOUT_SECONDS_MAX);

/** Counts the pairs before it checks one. */
const textMap = (pairsMax: number) =>
  z
    .custom((value) => isObject(value) && Object.keys(value).length <= pairsMax, {
      error: `not a map of at most ${pairsMax} pairs`,
    })
    .pipe(z.record(z.string(), z.string()));

/** Stops at the first wrong item, and does not say which one it is. */
const list = <Item extends z.ZodType>(item: Item, itemsMax: number) => {
  const items = z.array(item).max(itemsMax);
  return z
    .custom((value) => items.validate(value), {
      error: `not a list of at most ${itemsMax} valid items`,
    })
    .pipe(items);
};

const processor: z.ZodType<Processor> = z.discriminatedUnion('way', [
  z.strictObject({
    way: z.literal('http'),
    timeoutSeconds,
    address: name.exactOptional(),
    port: z.int().min(1).max(65_535).exactOptional(),
    path: z.string().max(URL_PATH_CHARACTERS_MAX),
    scheme: z.enum(['http', 'https']),
    caBundle: z.string().max(CA_BUNDLE_CHARACTERS_MAX).exactOptional(),
    insecureSkipTLSVerify: z.literal(true).exactOptional(),
    retries: z.int().min(0).max(RETRIES_MAX).exactOptional(),
  }),
  z.strictObject({
    way: z.literal('script'),
    timeoutSeconds,
    script: z.string(),
    argKeys: list(z.string(), ARGUMENTS_MAX),
    operationResultKey: z.string().exactOptional(),
    ignoreExitCode: z.literal(true).exactOptional(),
  }),
  z.strictObject({
    way: z.literal('function'),
    timeoutSeconds,
    codeSource: textMap(CODE_FILES_MAX),
    runtime: name,
  }),
]);

/** Only what decides whether a repair may act. */
const diagnosis = z.strictObject({
  namespace: name,
  name,
  uid,
  nodeName: name,
  spec: z.strictObject({
    recovery: diagnosisSpec.shape.recovery,
    dryRun: diagnosisSpec.shape.dryRun,
    approvedPlan: diagnosisSpec.shape.approvedPlan,
  }),
  status: z.strictObject({
    plan: diagnosisStatus.shape.plan,
    plannedActions: list(
      diagnosisStatus.shape.plannedActions.unwrap().element,
      PLANNED_ACTIONS_MAX,
    ).exactOptional(),
    checkpoint: diagnosisStatus.shape.checkpoint,
  }),
});

const file = z.hex().length(32);

export const executorRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('run-step'),
    name,
    processor,
    diagnosis,
    input: textMap(INPUT_PAIRS_MAX),
    largeInput: list(z.strictObject({ key: z.string(), file }), LARGE_INPUT_MAX).exactOptional(),
    restMs,
    purpose,
  }),
  z.strictObject({ kind: z.literal('find-pod'), pod: podReference, restMs }),
  z.strictObject({ kind: z.literal('earlier-actions'), purpose }),
  z.strictObject({ kind: z.literal('settle-journal') }),
  z.strictObject({ kind: z.literal('store-result'), uid, file, text: z.string() }),
  z.strictObject({ kind: z.literal('remove-results'), uid }),
  z.strictObject({ kind: z.literal('retain-results'), uids: list(uid, UIDS_MAX) }),
  z.strictObject({
    kind: z.literal('read-file'),
    path: z.string().max(PATH_CHARACTERS_MAX),
    offset: z.int().min(0),
  }),
]);

export type ExecutorRequest = z.output<typeof executorRequest>;
export type StepRequest = Extract<ExecutorRequest, { readonly kind: 'run-step' }>;

const id = z.int().min(1);

/** What an agent sends. The request itself is checked when its id is known, so that it is answered. */
export const fromAgent = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('request'), id, request: z.unknown() }),
  z.strictObject({ type: z.literal('cancel'), id }),
  z.strictObject({ type: z.literal('ping') }),
]);
