import { textAt } from '../../lib/std/json.ts';
import { type Place, type Problem, problem } from '../api/problem.ts';
import type { TriggerSpec } from '../api/trigger.ts';
import { COMPARISON_MAX, PATTERNS_MAX } from './limits.ts';
import { readPattern } from './pattern.ts';

type SourceTemplate = TriggerSpec['sourceTemplate'];

/** The templates with patterns; a schedule has none. */
const SOURCES = [
  'prometheusAlertTemplate',
  'kubernetesEventTemplate',
  'commonEventTemplate',
] as const;

export type Source = (typeof SOURCES)[number];

/** Whether a Trigger matches an event, or the error that prevents the comparison. */
export interface Match {
  readonly matched: boolean;
  readonly error?: string;
}

/** One pattern, its place in the template, and the field of the event that it is compared with. */
interface Wanted {
  readonly place: readonly string[];
  readonly pattern: string;
  readonly at: readonly string[];
  /** An absent field counts as empty, except a key that the pattern names. */
  readonly mustBeThere?: true;
}

/** Compares events with a Trigger, whose patterns are compiled once. */
export function matcherFor(spec: TriggerSpec, source: Source): (event: object) => Match {
  if (spec.sourceTemplate[source] === undefined) return () => ({ matched: false });
  const wanted = wantedIn(spec.sourceTemplate, source);
  const read = wanted.map((each) => ({ ...each, compare: readPattern(each.pattern) }));
  return (event) => {
    let work = 0;
    for (const { compare, at, mustBeThere } of read) {
      if (!compare.ok) return { matched: false, error: compare.why };
      const text = textAt(event, ...at) ?? (mustBeThere ? undefined : '');
      if (text === undefined) return { matched: false };
      work += compare.steps * text.length;
      if (work > COMPARISON_MAX) return { matched: false, error: TOO_MUCH };
      if (!compare.matches(text)) return { matched: false };
    }
    return { matched: true };
  };
}

const TOO_MUCH = 'the patterns are too large for strings of this length: use shorter patterns';

/** The problems of the patterns of a Trigger, for the person who applies it. */
export function checkPatterns({ sourceTemplate }: TriggerSpec): readonly Problem[] {
  return SOURCES.flatMap((source) => {
    const regexp: Place = ['spec', 'sourceTemplate', source, 'regexp'];
    const wanted = wantedIn(sourceTemplate, source);
    if (wanted.length > PATTERNS_MAX) {
      const what = `${wanted.length} patterns, and the limit is ${PATTERNS_MAX}`;
      return [problem(regexp, what, 'remove some of them')];
    }
    return wanted.flatMap(({ place, pattern }) => {
      const read = readPattern(pattern);
      return read.ok ? [] : [problem([...regexp, ...place], read.why, READABLE)];
    });
  });
}

const READABLE = 'use the syntax of RE2, with "\\" before characters that have a meaning in it';

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

/** For an Event of Kubernetes. */
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
