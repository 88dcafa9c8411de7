import { RE2JS } from 're2js';
import { textAt } from '../../lib/std/json.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { PATTERN_CHARACTERS_MAX, PATTERNS_MAX } from '../api/limits.ts';
import { type Place, type Problem, problem } from '../api/problem.ts';
import type { TriggerSpec } from '../api/trigger.ts';
import { COMPARISON_MAX, PATTERN_STEPS_MAX } from './limits.ts';

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

/** A compiled pattern, or why it is invalid. */
type ReadPattern =
  | { readonly ok: true; readonly steps: number; readonly matches: (text: string) => boolean }
  | { readonly ok: false; readonly why: string };

/**
 * Compiles a pattern of RE2, which may match anywhere in a string. RE2 never backtracks: the work for
 * each character is limited by the number of instructions.
 */
function readPattern(pattern: string): ReadPattern {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    const why = `${pattern.length} characters, and the limit is ${PATTERN_CHARACTERS_MAX}`;
    return { ok: false, why };
  }
  try {
    const compiled = RE2JS.compile(pattern);
    const steps = compiled.programSize();
    if (steps <= PATTERN_STEPS_MAX) {
      return { ok: true, steps, matches: (text) => compiled.test(text) };
    }
    const why = `too many repetitions: ${steps} instructions, and the limit is ${PATTERN_STEPS_MAX}`;
    return { ok: false, why };
  } catch (error) {
    // The message of Go: error parsing regexp: missing closing ): `(alert1`
    return { ok: false, why: messageOf(error) };
  }
}
