import * as z from 'zod';
import { diagnosisSpec } from './diagnosis.ts';
import { givenName, objectName, text, textMap, time } from './fields.ts';
import { PATTERN_CHARACTERS_MAX, PATTERNS_MAX, SCHEDULE_CHARACTERS_MAX } from './limits.ts';
import { patterned, ruled } from './rules.ts';

/** The server reports an invalid pattern itself: the rule fails with the error of Go. */
const pattern = text
  .describe('RE2 pattern, not anchored; an empty pattern matches everything.')
  .meta({
    maxLength: PATTERN_CHARACTERS_MAX,
    'x-kubernetes-validations': [
      { rule: "''.matches(self) in [true, false]", message: 'not an RE2 pattern: correct it' },
    ],
  });
const patterns = (description: string) =>
  z.record(z.string(), pattern).describe(description).meta({ maxProperties: PATTERNS_MAX });

const label = (what: string) => text.describe(`Label of the alert that names the ${what}.`);

const prometheusAlertTemplate = z
  .object({
    regexp: z
      .object({
        alertName: pattern.exactOptional(),
        labels: patterns('Patterns for labels, by name; all must match.').exactOptional(),
        annotations: patterns('Patterns for annotations, by name; all must match.').exactOptional(),
        startsAt: pattern.exactOptional(),
        endsAt: pattern.exactOptional(),
        generatorURL: pattern.exactOptional(),
      })
      .describe('Which alerts match: those that match every pattern.'),
    nodeNameReferenceLabel: label('node').exactOptional(),
    podNamespaceReferenceLabel: label('namespace of the pod').exactOptional(),
    podNameReferenceLabel: label('pod').exactOptional(),
    containerReferenceLabel: label('container').exactOptional(),
    parameterInjectionLabels: z
      .array(text)
      .describe('Labels of the alert that become parameters of the Diagnosis.')
      .exactOptional(),
  })
  .describe('Alerts of Prometheus, as Alertmanager sends them.');

const kubernetesEventTemplate = z
  .object({
    regexp: z
      .object({
        name: pattern.exactOptional(),
        namespace: pattern.exactOptional(),
        reason: pattern.exactOptional(),
        message: pattern.exactOptional(),
        source: z
          .object({ component: pattern.exactOptional(), host: pattern.exactOptional() })
          .describe('Patterns for the source of the Event.')
          .exactOptional(),
      })
      .describe('Which Events match: those that match every pattern.'),
  })
  .describe('Events of Kubernetes.');

const commonEventTemplate = z
  .object({
    regexp: z
      .object({
        source: pattern.exactOptional(),
        severity: pattern.exactOptional(),
        class: pattern.exactOptional(),
        component: pattern.exactOptional(),
        group: pattern.exactOptional(),
      })
      .describe('Which events match: those that match every pattern.')
      .exactOptional(),
  })
  .describe('CommonEvents.');

// 0 */2 * * 1-5, @hourly, @every 1h30m
const SCHEDULE =
  /^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|@every\s+[0-9a-z\xb5.]+|(\S+\s+){4}\S+)$/;

const cronTemplate = z
  .object({
    schedule: patterned(text.max(SCHEDULE_CHARACTERS_MAX), SCHEDULE, {
      what: 'not a cron schedule',
      fix: 'write five fields as in crontab, or a descriptor such as "@hourly" or "@every 1h30m"',
    }).describe('Five fields as in crontab, or a descriptor such as @hourly or "@every 1h30m".'),
  })
  .describe('A schedule.');

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
    parameters: textMap.describe('Parameters of the Diagnoses to create.').exactOptional(),
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

export const triggerStatus = z
  .object({
    lastScheduleTime: time.describe('When the schedule created a Diagnosis last.').exactOptional(),
  })
  .describe('What the Trigger did.');

export type TriggerSpec = z.output<typeof triggerSpec>;
