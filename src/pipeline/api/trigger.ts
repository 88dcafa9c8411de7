import * as z from 'zod';
import { diagnosisSpec } from './diagnosis.ts';
import { givenName, objectName, text, textMap, time } from './fields.ts';
import { SCHEDULE_CHARACTERS_MAX } from './limits.ts';
import { patterned, ruled } from './rules.ts';

const pattern = text.describe('A pattern (RE2) that may match anywhere; an empty one matches all.');
const patterns = z.record(z.string(), text).describe('A pattern for each of these keys.');

const prometheusAlertTemplate = z.object({
  regexp: z.object({
    alertName: pattern.exactOptional(),
    labels: patterns.exactOptional(),
    annotations: patterns.exactOptional(),
    startsAt: pattern.exactOptional(),
    endsAt: pattern.exactOptional(),
    generatorURL: pattern.exactOptional(),
  }),
  nodeNameReferenceLabel: text.exactOptional(),
  podNamespaceReferenceLabel: text.exactOptional(),
  podNameReferenceLabel: text.exactOptional(),
  containerReferenceLabel: text.exactOptional(),
  parameterInjectionLabels: z.array(text).exactOptional(),
});

const kubernetesEventTemplate = z.object({
  regexp: z.object({
    name: pattern.exactOptional(),
    namespace: pattern.exactOptional(),
    reason: pattern.exactOptional(),
    message: pattern.exactOptional(),
    source: z
      .object({ component: pattern.exactOptional(), host: pattern.exactOptional() })
      .exactOptional(),
  }),
});

const commonEventTemplate = z.object({
  regexp: z
    .object({
      source: pattern.exactOptional(),
      severity: pattern.exactOptional(),
      class: pattern.exactOptional(),
      component: pattern.exactOptional(),
      group: pattern.exactOptional(),
    })
    .exactOptional(),
});

// 0 */2 * * 1-5, @hourly, @every 1h30m
const SCHEDULE =
  /^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|@every\s+[0-9a-zµ.]+|(\S+\s+){4}\S+)$/;

const cronTemplate = z.object({
  schedule: patterned(text.max(SCHEDULE_CHARACTERS_MAX), SCHEDULE, {
    what: 'it is no schedule',
    fix: 'write five fields as in crontab, or a word such as "@hourly" or "@every 1h30m"',
  }).describe('Five fields as in crontab, or a word such as @hourly or "@every 1h30m".'),
});

const SOURCES = [
  'prometheusAlertTemplate',
  'kubernetesEventTemplate',
  'commonEventTemplate',
  'cronTemplate',
] as const;

const sourceTemplate = ruled(
  z.object({
    prometheusAlertTemplate: prometheusAlertTemplate.exactOptional(),
    kubernetesEventTemplate: kubernetesEventTemplate.exactOptional(),
    commonEventTemplate: commonEventTemplate.exactOptional(),
    cronTemplate: cronTemplate.exactOptional(),
  }),
  'What it waits for: exactly one.',
  [
    {
      holds: (source) => SOURCES.filter((field) => field in source).length === 1,
      cel: `${SOURCES.map((field) => `(has(self.${field}) ? 1 : 0)`).join(' + ')} == 1`,
      what: 'it waits for nothing, or for more than one thing',
      fix: `keep one of ${SOURCES.join(', ')}`,
    },
  ],
);

export const triggerSpec = ruled(
  z.object({
    operationSet: givenName('The OperationSet of the Diagnosis that is made.'),
    parameters: textMap.exactOptional(),
    recovery: diagnosisSpec.shape.recovery,
    nodeName: objectName('The node, where the source names none.').exactOptional(),
    sourceTemplate,
  }),
  'What makes a Diagnosis by itself.',
  [
    {
      holds: (spec) => spec.sourceTemplate.cronTemplate === undefined || Boolean(spec.nodeName),
      cel: "!has(self.sourceTemplate.cronTemplate) || (has(self.nodeName) && self.nodeName != '')",
      what: 'a schedule names no node',
      fix: 'give spec.nodeName the node to look at',
    },
  ],
);

export const triggerStatus = z.object({ lastScheduleTime: time.exactOptional() });

export type TriggerSpec = z.output<typeof triggerSpec>;
