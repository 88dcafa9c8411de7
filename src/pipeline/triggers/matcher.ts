import { textAt } from '../../lib/std/json.ts';
import type { Place, Problem } from '../api/problem.ts';
import type { TriggerSpec } from '../api/trigger.ts';
import { COMPARISON_MAX, PATTERNS_MAX } from './limits.ts';
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
    let work = 0;
    for (const { compare, at, mustBeThere } of read) {
      if (!compare.ok) return { matched: false, error: compare.why };
      const text = textAt(happened, ...at) ?? (mustBeThere ? undefined : '');
      if (text === undefined) return { matched: false };
      work += compare.steps * text.length;
      if (work > COMPARISON_MAX) return { matched: false, error: TOO_MUCH };
      if (!compare.matches(text)) return { matched: false };
    }
    return { matched: true };
  };
}

const TOO_MUCH = 'its patterns are too large for texts as long as these: write shorter patterns';

/** What is wrong with the patterns of a Trigger: whoever applies it is told, not whoever waits for it. */
export function checkPatterns({ sourceTemplate }: TriggerSpec): readonly Problem[] {
  return SOURCES.flatMap((source) => {
    const regexp: Place = ['spec', 'sourceTemplate', source, 'regexp'];
    const wanted = wantedIn(sourceTemplate, source);
    if (wanted.length > PATTERNS_MAX) {
      const what = `it has ${wanted.length} patterns, of ${PATTERNS_MAX} at most`;
      return [problem(regexp, what, 'leave out what is not needed')];
    }
    return wanted.flatMap(({ place, pattern }) => {
      const read = readPattern(pattern);
      return read.ok ? [] : [problem([...regexp, ...place], read.why, READABLE)];
    });
  });
}

const READABLE = 'write a regular expression of RE2; what stands for itself has a "\\" before it';

function problem(place: Place, what: string, fix: string): Problem {
  return { severity: 'problem', place, what, fix };
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
