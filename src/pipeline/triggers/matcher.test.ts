import { expect, test } from 'vitest';
import { placeText } from '../api/problem.ts';
import type { TriggerSpec } from '../api/trigger.ts';
import { readAlert } from './alert.ts';
import { readCommonEvent } from './common-event.ts';
import { TEXT_CHARACTERS_MAX } from './limits.ts';
import { checkPatterns, matcherFor, type Source } from './matcher.ts';

/** What a template with these patterns makes of it. */
function compared(source: Source, regexp: object, happened: object) {
  return matcherFor(triggerOn(source, regexp), source)(happened);
}

function triggerOn(source: Source, regexp: object): TriggerSpec {
  return { operationSet: 'set', sourceTemplate: { [source]: { regexp } } };
}

const TRUE = { matched: true };
const FALSE = { matched: false };

const TIME = '2021-06-03T08:52:24.123456Z';
const TIME_PATTERN = String.raw`2021-06-03 08:52:24\.123456 \+0000 UTC`;

const alert = {
  labels: { alertname: 'alert1', node: 'node1' },
  annotations: { message: 'message1', namespace: 'namespace1' },
  startsAt: TIME,
  endsAt: TIME,
  generatorURL: 'url1',
};
const alertTemplate = {
  alertName: 'alert1',
  labels: { alertname: 'alert1', node: 'node1' },
  annotations: { message: 'message1', namespace: 'namespace1' },
  startsAt: TIME_PATTERN,
  endsAt: TIME_PATTERN,
  generatorURL: 'url1',
};

/** As it would be after it was sent. */
function sent(fields: object) {
  const read = readAlert(fields, new Date(TIME));
  if (!read.ok) throw new Error(read.why);
  return read.value;
}

const BAD = 'error parsing regexp: missing closing ): `(alert1`';

test.each([
  ['exact', alertTemplate, alert, TRUE],
  ['empty template', {}, alert, TRUE],
  ['name', { alertName: 'alert1' }, { labels: { alertname: 'alert2' } }, FALSE],
  ['labels', { labels: { node: 'node1' } }, { labels: { node: 'node2' } }, FALSE],
  [
    'annotations',
    { annotations: { namespace: 'namespace1' } },
    { ...alert, annotations: { namespace: 'namespace2' } },
    FALSE,
  ],
  ['start', { startsAt: 'invalid time' }, alert, FALSE],
  ['end', { endsAt: 'invalid time' }, alert, FALSE],
  ['url', { generatorURL: 'url1' }, { ...alert, generatorURL: 'url2' }, FALSE],
  ['bad pattern', { alertName: '(alert1' }, alert, { matched: false, error: BAD }],
  ['anywhere in the text', { alertName: 'alert1' }, { labels: { alertname: 'xalert12' } }, TRUE],
  ['a label that is absent', { labels: { pod: '' } }, alert, FALSE],
  ['a label that every object has', { labels: { constructor: '' } }, alert, FALSE],
])('an alert: %s', (_, regexp, given, wanted) => {
  expect(compared('prometheusAlertTemplate', regexp, sent(given))).toEqual(wanted);
});

test('an alert: empty alert', () => {
  expect(compared('prometheusAlertTemplate', alertTemplate, {})).toEqual(FALSE);
});

test.each([
  ['UTC', '2021-06-03T08:52:24.500Z', '^2021-06-03 08:52:24\\.5 \\+0000 UTC$'],
  ['another zone', '2021-06-03T16:52:24+08:00', '^2021-06-03 16:52:24 \\+0800 \\+0800$'],
  ['none', '', '^0001-01-01 00:00:00 \\+0000 UTC$'],
])('compares a time as Go formats it: %s', (_, startsAt, pattern) => {
  const given = sent({ ...alert, startsAt });
  expect(compared('prometheusAlertTemplate', { startsAt: pattern }, given)).toEqual(TRUE);
});

const event = {
  metadata: { name: 'event1', namespace: 'namespace1' },
  reason: 'reason1',
  message: 'message1',
  source: { component: 'component1', host: 'host1' },
};
const eventTemplate = {
  name: 'event1',
  namespace: 'namespace1',
  reason: 'reason1',
  message: 'message1',
  source: { component: 'component1', host: 'host1' },
};

test.each([
  ['exact', eventTemplate, event, TRUE],
  ['empty template', {}, event, TRUE],
  ['empty event', { name: 'event1', namespace: 'namespace1' }, {}, FALSE],
  ['name', { name: 'event1' }, { metadata: { name: 'event2' } }, FALSE],
  ['namespace', { namespace: 'n1' }, { metadata: { namespace: 'n2' } }, FALSE],
  ['reason', { reason: 'reason1' }, { ...event, reason: 'reason2' }, FALSE],
  ['message', { message: 'message1' }, { ...event, message: 'message2' }, FALSE],
  ['component', { source: { component: 'c1' } }, { source: { component: 'c2' } }, FALSE],
  ['host', { source: { host: 'host1' } }, { source: { host: 'host2' } }, FALSE],
  [
    'bad pattern',
    { name: '(event1' },
    event,
    { matched: false, error: 'error parsing regexp: missing closing ): `(event1`' },
  ],
])('an event of Kubernetes: %s', (_, regexp, given, wanted) => {
  expect(compared('kubernetesEventTemplate', regexp, given)).toEqual(wanted);
});

const common = {
  summary: "Host '10.10.101.101' high CPU load ",
  source: '10.10.101.101',
  severity: 'Warning',
  class: 'highCPU',
  group: 'load',
  component: 'webPing',
  timestamp: '2015-07-17T08:42:58.315+0000',
  custom_details: { 'ping time': '2000ms', 'load avg': '0.75' },
};
const commonTemplate = {
  source: '10.10.101.101',
  severity: 'Warning',
  class: 'highCPU',
  group: 'load',
  component: 'webPing',
};

test.each([
  ['exact', commonTemplate, common, TRUE],
  ['empty template', {}, common, TRUE],
  ['empty event', commonTemplate, {}, FALSE],
  ['source', { source: '10.10.101.101' }, { ...common, source: '10.10.102.102' }, FALSE],
  ['severity', { severity: 'Warning' }, { ...common, severity: 'Error' }, FALSE],
  ['class', { class: 'load' }, { ...common, class: 'web' }, FALSE],
  ['component', { component: 'highLoad' }, common, FALSE],
  ['group', { group: 'load' }, { ...common, group: 'www' }, FALSE],
])('a common event: %s', (_, regexp, given, wanted) => {
  const read = readCommonEvent(given);
  if (!read.ok) throw new Error(read.why);
  expect(compared('commonEventTemplate', regexp, read.value)).toEqual(wanted);
});

test('a template without patterns matches every event', () => {
  const spec = { operationSet: 'set', sourceTemplate: { commonEventTemplate: {} } };
  expect(matcherFor(spec, 'commonEventTemplate')({})).toEqual(TRUE);
});

test('a Trigger with another template does not match', () => {
  const match = matcherFor(triggerOn('kubernetesEventTemplate', {}), 'prometheusAlertTemplate');
  expect(match(sent(alert))).toEqual(FALSE);
});

test('reports every invalid pattern with its place', () => {
  const regexp = { alertName: '(alert1', labels: { 'a.b': '[z-a]', node: 'node1' } };
  const reported = checkPatterns(triggerOn('prometheusAlertTemplate', regexp));
  expect(reported.map(({ place, what }) => [placeText(place), what])).toEqual([
    ['spec.sourceTemplate.prometheusAlertTemplate.regexp.alertName', BAD],
    [
      'spec.sourceTemplate.prometheusAlertTemplate.regexp.labels["a.b"]',
      'error parsing regexp: invalid character class range: `z-a`',
    ],
  ]);
  expect(checkPatterns(triggerOn('kubernetesEventTemplate', { source: { host: '*' } }))).toEqual([
    expect.objectContaining({
      what: 'error parsing regexp: missing argument to repetition operator: `*`',
    }),
  ]);
});

test.each([
  ['too long', 'a'.repeat(1_025), '1025 characters, and the limit is 1024'],
  ['too large', 'a{1000}b{1000}c{1000}', 'too many repetitions: 3002 instructions'],
  ['looking back', '(a)\\1', 'invalid escape sequence'],
  ['looking ahead', '(?=a)', 'invalid or unsupported Perl syntax'],
])('a pattern that is %s is refused', (_, alertName, why) => {
  const [problem] = checkPatterns(triggerOn('prometheusAlertTemplate', { alertName }));
  expect(problem?.what).toContain(why);
});

const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`label${at}`, 'x']));

test('rejects too many patterns', () => {
  expect(checkPatterns(triggerOn('prometheusAlertTemplate', { labels: many }))).toMatchObject([
    { what: '101 patterns, and the limit is 100' },
  ]);
});

// A backtracking matcher needs years for one of these.
test.each([
  ['(a+)+$', 'a'],
  ['(a|aa)+$', 'a'],
  ['(x+x+)+y', 'x'],
  ['(?i)(?:.*a.{30}|.*b.{31})c', 'ab'],
])('%s ends on the longest text', (alertName, letters) => {
  const text = `${letters.repeat(TEXT_CHARACTERS_MAX / letters.length - 1)}!`;
  const given = { labels: { alertname: text } };
  expect(compared('prometheusAlertTemplate', { alertName }, given)).toEqual(FALSE);
});

test('limits the work of all patterns of a Trigger together', () => {
  const large = '(?i)(?:.*a.{300}|.*b.{301}|.*a.{302})c';
  const given = (length: number) => ({ labels: { alertname: 'b'.repeat(length), x: 'b' } });
  const of = (regexp: object, length: number) =>
    compared('prometheusAlertTemplate', regexp, given(length));
  const error = expect.stringContaining('too large for strings of this length');
  expect(of({ alertName: large }, 2_000)).toEqual(FALSE);
  expect(of({ alertName: large }, 2_200)).toEqual({ matched: false, error });
  const twice = { alertName: `b|${large}`, labels: { alertname: large } };
  expect(of(twice, 2_000)).toEqual({ matched: false, error });
});
