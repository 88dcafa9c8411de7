import * as z from 'zod';
import { diagnosisSpec } from './diagnosis.ts';
import { givenName, objectName, text, textMap, time } from './fields.ts';
import { SCHEDULE_CHARACTERS_MAX } from './limits.ts';
import { patterned, ruled } from './rules.ts';

const pattern = text.describe('RE2 pattern, not anchored; an empty pattern matches everything.');
const patterns = z.record(z.string(), text).describe('A pattern for each key.');

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
    what: 'not a cron schedule',
    fix: 'write five fields as in crontab, or a descriptor such as "@hourly" or "@every 1h30m"',
  }).describe('Five fields as in crontab, or a descriptor such as @hourly or "@every 1h30m".'),
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
  'Source of the events: exactly one.',
  [
    {
      holds: (source) => SOURCES.filter((field) => field in source).length === 1,
      cel: `${SOURCES.map((field) => `(has(self.${field}) ? 1 : 0)`).join(' + ')} == 1`,
      what: 'no event source, or more than one',
      fix: `keep one of ${SOURCES.join(', ')}`,
    },
  ],
);

export const triggerSpec = ruled(
  z.object({
    operationSet: givenName('OperationSet of the Diagnoses to create.'),
    parameters: textMap.exactOptional(),
    recovery: diagnosisSpec.shape.recovery,
    nodeName: objectName('Node to diagnose if the event names none.').exactOptional(),
    sourceTemplate,
  }),
  'Creates Diagnoses from events.',
  [
    {
      holds: (spec) => spec.sourceTemplate.cronTemplate === undefined || Boolean(spec.nodeName),
      cel: "!has(self.sourceTemplate.cronTemplate) || (has(self.nodeName) && self.nodeName != '')",
      what: 'a schedule without a node',
      fix: 'set spec.nodeName to the node to diagnose',
    },
  ],
);

export const triggerStatus = z.object({ lastScheduleTime: time.exactOptional() });

export type TriggerSpec = z.output<typeof triggerSpec>;
