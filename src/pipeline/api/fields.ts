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

/** As everywhere in Kubernetes: one without any condition selects everything. */
const labelSelector = z.object({
  matchLabels: textMap.describe('Labels that must have these values.').exactOptional(),
  matchExpressions: z
    .array(
      z.object({
        key: text.min(1).describe('Key of the label.'),
        operator: z
          .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
          .describe('How the label is compared with the values.'),
        values: z
          .array(text)
          .describe('Values for In and NotIn; the others have none.')
          .exactOptional(),
      }),
    )
    .describe('Conditions on labels; all of them must hold.')
    .exactOptional(),
});

export const targetSelector = z
  .object({
    nodeSelector: labelSelector
      .describe('Nodes by their labels; {} selects all nodes.')
      .exactOptional(),
    nodeNames: z
      .array(givenName('A node.'))
      .max(TARGETS_MAX)
      .describe('Nodes by their names.')
      .exactOptional(),
    podSelector: labelSelector
      .describe('The nodes of all pods with these labels, in all namespaces; {} selects all pods.')
      .exactOptional(),
    podReferences: z
      .array(podReference)
      .max(TARGETS_MAX)
      .describe('The nodes of these pods.')
      .exactOptional(),
  })
  .describe(
    'Several nodes to diagnose, each with a Diagnosis of its own. The first of these members that is set counts. An empty list counts as not set; an empty selector selects everything. Without any of them no node is selected. On a cluster it has no effect beside nodeName or podReference.',
  );

export const condition = z.object({
  type: text.describe('Type of the condition, for "kubectl wait --for=condition=TYPE".'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether the condition holds.'),
  lastTransitionTime: time.describe('When the status changed last.').exactOptional(),
  reason: text.describe('Why, in one word for programs.').exactOptional(),
  message: text.describe('Why, in a sentence for people.').exactOptional(),
});

/** One condition of each type, so that writers who apply different ones do not overwrite each other. */
export const conditions = z
  .array(condition)
  .describe('What is true of the object now; one condition of each type.')
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

export type Condition = z.output<typeof condition>;
export type LabelSelector = z.output<typeof labelSelector>;
export type TargetSelector = z.output<typeof targetSelector>;

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
