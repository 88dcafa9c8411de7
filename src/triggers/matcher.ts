import type { Place, Problem } from '../api/problem.ts';
import type { TriggerSpec } from '../api/trigger.ts';
import { textAt } from '../std/json.ts';
import { readPattern } from './pattern.ts';

type SourceTemplate = TriggerSpec['sourceTemplate'];

/** What can happen, by the template that waits for it; a schedule is no matter of patterns. */
const SOURCES = [
  'prometheusAlertTemplate',
  'kubernetesEventTemplate',
  'commonEventTemplate',
] as const;

export type Source = (typeof SOURCES)[number];

/** Whether a Trigger waits for this; with an error when that cannot be said. */
export interface Match {
  readonly matched: boolean;
  readonly error?: string;
}

/** One pattern: where it stands in its template, and with which text of what happened it is compared. */
interface Wanted {
  readonly place: readonly string[];
  readonly pattern: string;
  readonly at: readonly string[];
  /** Where there is no text, an empty one is meant, but for keys that somebody asks for by name. */
  readonly mustBeThere?: true;
}

/** Compares what happens with a Trigger, whose patterns are read once. */
export function matcherFor(spec: TriggerSpec, source: Source): (happened: object) => Match {
  if (spec.sourceTemplate[source] === undefined) return () => ({ matched: false });
  const wanted = wantedIn(spec.sourceTemplate, source);
  const read = wanted.map((each) => ({ ...each, compare: readPattern(each.pattern) }));
  return (happened) => {
    for (const { compare } of read) {
      if (!compare.ok) return { matched: false, error: compare.why };
    }
    const matched = read.every(({ compare, at, mustBeThere }) => {
      const text = textAt(happened, ...at) ?? (mustBeThere ? undefined : '');
      return text !== undefined && compare.ok && compare.matches(text);
    });
    return { matched };
  };
}

/** What is wrong with the patterns of a Trigger: whoever applies it is told, not whoever waits for it. */
export function checkPatterns({ sourceTemplate }: TriggerSpec): readonly Problem[] {
  return SOURCES.flatMap((source) =>
    wantedIn(sourceTemplate, source).flatMap(({ place, pattern }) => {
      const read = readPattern(pattern);
      if (read.ok) return [];
      const whole: Place = ['spec', 'sourceTemplate', source, 'regexp', ...place];
      const fix = 'write a regular expression of RE2; what stands for itself has a "\\" before it';
      return [{ severity: 'problem' as const, place: whole, what: read.why, fix }];
    }),
  );
}

function wantedIn(template: SourceTemplate, source: Source): readonly Wanted[] {
  switch (source) {
    case 'prometheusAlertTemplate':
      return inAlert(template.prometheusAlertTemplate?.regexp ?? {});
    case 'kubernetesEventTemplate':
      return inEvent(template.kubernetesEventTemplate?.regexp ?? {});
    case 'commonEventTemplate':
      return COMMON_FIELDS.flatMap((field) =>
        one([field], template.commonEventTemplate?.regexp?.[field]),
      );
  }
}

const COMMON_FIELDS = ['source', 'severity', 'class', 'component', 'group'] as const;

type AlertPatterns = NonNullable<SourceTemplate['prometheusAlertTemplate']>['regexp'];
type EventPatterns = NonNullable<SourceTemplate['kubernetesEventTemplate']>['regexp'];

function inAlert({ alertName, startsAt, endsAt, generatorURL, ...maps }: AlertPatterns) {
  return [
    ...one(['alertName'], alertName, ['labels', 'alertname']),
    ...one(['startsAt'], startsAt),
    ...one(['endsAt'], endsAt),
    ...one(['generatorURL'], generatorURL),
    ...all('labels', maps.labels),
    ...all('annotations', maps.annotations),
  ];
}

/** Of an event as Kubernetes writes it. */
function inEvent({ name, namespace, reason, message, source }: EventPatterns) {
  return [
    ...one(['name'], name, ['metadata', 'name']),
    ...one(['namespace'], namespace, ['metadata', 'namespace']),
    ...one(['reason'], reason),
    ...one(['message'], message),
    ...one(['source', 'component'], source?.component),
    ...one(['source', 'host'], source?.host),
  ];
}

function one(place: readonly string[], pattern: string | undefined, at = place): readonly Wanted[] {
  return pattern === undefined ? [] : [{ place, pattern, at }];
}

function all(field: string, patterns: Readonly<Record<string, string>> = {}): readonly Wanted[] {
  return Object.entries(patterns).map(([key, pattern]) => {
    return { place: [field, key], pattern, at: [field, key], mustBeThere: true };
  });
}
