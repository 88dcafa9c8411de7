import * as z from 'zod';
import { NAME_CHARACTERS_MAX, PAIRS_MAX, TARGETS_MAX } from './limits.ts';
import { patterned } from './rules.ts';

/** Parts that several resources have. A field that no schema names is dropped, if it is not refused. */

export const text = z.string();
export const flag = z.boolean();
export const count = z.int().min(0).max(2_147_483_647);
export const port = z.int().min(1).max(65_535);

/** Values are text: a number has to be quoted in YAML. */
export const textMap = z
  .record(z.string(), text)
  .refine((map) => Object.keys(map).length <= PAIRS_MAX, {
    error: `more than ${PAIRS_MAX} pairs`,
    params: { fix: 'leave out what is not needed' },
  })
  .meta({ maxProperties: PAIRS_MAX });

export const time = z.iso.datetime({ offset: true });

/** Maps without a bound are the status's, which we write ourselves. */
export const results = z.record(z.string(), text);

const NAME = {
  what: 'it is no name of a Kubernetes object',
  fix: 'use lower case letters, digits, "-" and ".", as in "my-node"',
};

// my-node, prometheus-alert.node-clock.94df165.1622707344
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

// The same, or nothing, which some writers leave where they mean that it is absent.
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
    container: objectName('One container of it; all of them when it is absent.').exactOptional(),
  })
  .describe('The pod that is looked at.');

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
  .describe('Which nodes are looked at. The first member that is not empty counts.');

export const condition = z.object({
  type: text,
  status: z.enum(['True', 'False', 'Unknown']),
  lastTransitionTime: time.exactOptional(),
  reason: text.exactOptional(),
  message: text.exactOptional(),
});

export type Condition = z.output<typeof condition>;

/** Of our own objects' metadata only what we use; the API server checks the rest. */
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
