import * as z from 'zod';
import { NAME_CHARACTERS_MAX, PAIRS_MAX, TARGETS_MAX } from './limits.ts';
import { patterned } from './rules.ts';

/** Fields that several resources share. */

export const text = z.string();
export const flag = z.boolean();
export const count = z.int().min(0).max(2_147_483_647);
export const port = z.int().min(1).max(65_535);

/** Values are text: a number has to be quoted in YAML. */
export const textMap = z
  .record(z.string(), text)
  .refine((map) => Object.keys(map).length <= PAIRS_MAX, {
    error: `more than ${PAIRS_MAX} pairs`,
    params: { fix: 'remove what is not needed' },
  })
  .meta({ maxProperties: PAIRS_MAX });

export const time = z.iso.datetime({ offset: true });

/** Without a bound: only statuses have it, and only we write them. */
export const results = z.record(z.string(), text);

const NAME = {
  what: 'not a valid name of a Kubernetes object',
  fix: 'use lower case letters, digits, "-" and ".", as in "my-node"',
};

// my-node, prometheus-alert.node-clock.94df165.1622707344
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

// The same, or empty: some clients send an empty string for an absent name.
const OPTIONAL_NAME = new RegExp(`^$|${OBJECT_NAME.source}`);

const name = text.max(NAME_CHARACTERS_MAX);

/** The name of another object, or empty. */
export const objectName = (description: string) =>
  patterned(name, OPTIONAL_NAME, NAME).describe(description);

export const givenName = (description: string) =>
  patterned(name, OBJECT_NAME, NAME).describe(description);

export const podReference = z
  .object({
    namespace: givenName('Namespace of the pod.'),
    name: givenName('Name of the pod.'),
    container: objectName('Name of the container; all containers when absent.').exactOptional(),
  })
  .describe('Pod to diagnose.');

const labelSelector = z.object({
  matchLabels: textMap.exactOptional(),
  matchExpressions: z
    .array(
      z.object({
        key: text.min(1),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(text).exactOptional(),
      }),
    )
    .exactOptional(),
});

export const targetSelector = z
  .object({
    nodeSelector: labelSelector.describe('Nodes by their labels.').exactOptional(),
    nodeNames: z.array(givenName('A node.')).max(TARGETS_MAX).exactOptional(),
    podSelector: labelSelector.describe('The nodes of all pods with these labels.').exactOptional(),
    podReferences: z.array(podReference).max(TARGETS_MAX).exactOptional(),
  })
  .describe('Nodes to diagnose. The first member that is not empty counts.');

export const condition = z.object({
  type: text,
  status: z.enum(['True', 'False', 'Unknown']),
  lastTransitionTime: time.exactOptional(),
  reason: text.exactOptional(),
  message: text.exactOptional(),
});

export type Condition = z.output<typeof condition>;

/** Only the metadata that we use; the API server checks the rest. */
export const metadata = z.object({
  name: givenName('').exactOptional(),
  generateName: text.exactOptional(),
  namespace: givenName('').exactOptional(),
  labels: textMap.exactOptional(),
  annotations: textMap.exactOptional(),
});

/** The fields of metadata that Kubernetes has. */
export const METADATA_FIELDS: readonly string[] = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
  'selfLink',
];
