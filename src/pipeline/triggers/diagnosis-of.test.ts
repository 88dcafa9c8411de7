import { expect, test } from 'vitest';
import type { TriggerSpec } from '../api/trigger.ts';
import { readAlert } from './alert.ts';
import { readCommonEvent } from './common-event.ts';
import { diagnosisOf, type Here, originIn, originOf } from './diagnosis-of.ts';
import type { TriggerEvent } from './trigger-event.ts';

const NOW = new Date('2021-06-03T08:02:24Z');
const HERE: Here = { nodeName: 'my-node', otherNames: ['my-host.example', '1.2.3.4', 'fd00::7'] };

const LABELS = {
  alertname: 'NodeClockNotSynchronising',
  instance: 'my-node',
  pod: 'node-exporter-2vqfp',
  namespace: 'monitoring',
  container: 'kube-rbac-proxy',
  endpoint: 'https',
  service: 'node-exporter',
  severity: 'warning',
  job: 'node-exporter',
};

const TEMPLATE = {
  regexp: { alertName: 'NodeClockNotSynchronising' },
  nodeNameReferenceLabel: 'instance',
  podNameReferenceLabel: 'pod',
  podNamespaceReferenceLabel: 'namespace',
  containerReferenceLabel: 'container',
  parameterInjectionLabels: ['endpoint', 'service', 'severity'],
};

function trigger(template: object = {}, spec: Partial<TriggerSpec> = {}) {
  const sourceTemplate = { prometheusAlertTemplate: { ...TEMPLATE, ...template } };
  return { name: 'clock', spec: { operationSet: 'clock-set', sourceTemplate, ...spec } };
}

function alert(labels: object): TriggerEvent {
  const read = readAlert({ labels }, NOW);
  if (!read.ok) throw new Error(read.why);
  return { source: 'prometheusAlertTemplate', what: read.value };
}

function madeOf(labels: object, by = trigger()) {
  const fixture = diagnosisOf(by, alert(labels), HERE, { now: NOW });
  return fixture.ok ? fixture.value : { why: fixture.why };
}

test.each(['Automatic', 'Approval', 'Never'] as const)(
  'a Trigger says whether what it makes may repair: %s',
  (recovery) => {
    expect(madeOf(LABELS, trigger({}, { recovery }))).toMatchObject({ spec: { recovery } });
    expect(madeOf(LABELS)).not.toHaveProperty('spec.recovery');
  },
);

test('an alert becomes a Diagnosis for its node and its pod', () => {
  expect(madeOf(LABELS)).toEqual({
    apiVersion: 'diagnosis.kubediag.org/v1',
    kind: 'Diagnosis',
    metadata: {
      name: expect.stringMatching(
        /^prometheus-alert[.]nodeclocknotsynchronising[.][\da-f]{7}[.]1622707344$/,
      ),
      namespace: 'kubediag',
      annotations: {
        'diagnosis.kubediag.org/prometheus-alert': expect.stringMatching(
          /^NodeClockNotSynchronising\[[\da-f]{7}\]\[active\]$/,
        ),
        'diagnosis.kubediag.org/trigger': 'clock',
        'diagnosis.kubediag.org/trigger-identity': expect.stringMatching(/^[\da-f]{16}$/),
      },
    },
    spec: {
      operationSet: 'clock-set',
      nodeName: 'my-node',
      podReference: {
        namespace: 'monitoring',
        name: 'node-exporter-2vqfp',
        container: 'kube-rbac-proxy',
      },
      parameters: { endpoint: 'https', service: 'node-exporter', severity: 'warning' },
      ttlSecondsAfterFinished: 864_000,
    },
  });
});

test('labels override the parameters of the Trigger, and an absent one adds nothing', () => {
  const by = trigger(
    { parameterInjectionLabels: ['severity', 'absent', 'toString'] },
    { parameters: { severity: 'none', size: '5' } },
  );
  expect(madeOf(LABELS, by)).toMatchObject({
    spec: { parameters: { severity: 'warning', size: '5' } },
  });
});

test.each([
  'my-node',
  'my-node:9100',
  '1.2.3.4:9100',
  '[fd00::7]:9100',
  'MY-HOST.example',
  '1.2.3.4',
])('instance="%s" is this node', (instance) => {
  expect(madeOf({ ...LABELS, instance })).toMatchObject({ spec: { nodeName: 'my-node' } });
});

test.each(['1.2.3.5:9100', 'my-node-2', 'localhost:9100', 'my-node:9100:1'])(
  'instance="%s" is another node',
  (instance) => {
    expect(madeOf({ ...LABELS, instance })).toEqual({
      why: expect.stringContaining(`node "${instance}": not this node (this is my-node)`),
    });
  },
);

test('without the label, the node is that of the Trigger, or else that of the pod', () => {
  const { instance: _, ...labels } = LABELS;
  const fallback = trigger({}, { nodeName: 'my-node' });
  expect(madeOf(labels, fallback)).toMatchObject({ spec: { nodeName: 'my-node' } });
  const ofPod = madeOf(labels);
  expect(ofPod).toMatchObject({ spec: { podReference: { name: 'node-exporter-2vqfp' } } });
  expect(ofPod).not.toHaveProperty('spec.nodeName');
  const { pod: __, ...nothing } = labels;
  expect(madeOf(nothing)).toEqual({ why: expect.stringContaining('names no node and no pod') });
});

test('ignores a pod without namespace or name', () => {
  const { namespace: _, ...labels } = LABELS;
  expect(madeOf(labels)).not.toHaveProperty('spec.podReference');
});

test('rejects an invalid Diagnosis with the place of the problem', () => {
  expect(madeOf({ ...LABELS, pod: 'Not A Pod' })).toEqual({
    why: 'spec.podReference.name of the Diagnosis would be invalid: not a valid name of a Kubernetes object',
  });
});

test.each([
  ['Node.Down', 'node-down'],
  ['  Disk full (90%) ', 'disk-full-90'],
  ['-x-', 'x'],
  ['磁盘', 'unnamed'],
  ['', 'unnamed'],
  ['A'.repeat(500), 'a'.repeat(180)],
])('an alert "%s" is "%s" in the name', (alertname, part) => {
  const fixture = madeOf({ ...LABELS, alertname });
  expect(fixture).toMatchObject({
    metadata: { name: expect.stringContaining(`prometheus-alert.${part}.`) },
  });
});

test('a common event becomes a Diagnosis for the node of its Trigger', () => {
  const read = readCommonEvent({ summary: 'high load', class: 'High CPU', source: 'x' });
  if (!read.ok) throw new Error(read.why);
  const event: TriggerEvent = { source: 'commonEventTemplate', what: read.value };
  const by = (spec: object) => ({
    name: 'load',
    spec: { operationSet: 'load-set', sourceTemplate: { commonEventTemplate: {} }, ...spec },
  });
  const fixture = diagnosisOf(by({ nodeName: 'my-node', parameters: { a: '1' } }), event, HERE, {
    now: NOW,
  });
  const name = 'common-event.high-cpu.1622707344';
  expect(fixture).toMatchObject({
    ok: true,
    value: {
      metadata: {
        name,
        namespace: 'kubediag',
        annotations: { 'diagnosis.kubediag.org/common-event': name },
      },
      spec: { operationSet: 'load-set', nodeName: 'my-node', parameters: { a: '1' } },
    },
  });
  expect(diagnosisOf(by({}), event, HERE, { now: NOW }).ok).toBe(false);
  expect(diagnosisOf(by({ nodeName: 'another' }), event, HERE, { now: NOW }).ok).toBe(false);
});

test('has further names for the same second', () => {
  const second = diagnosisOf(trigger(), alert(LABELS), HERE, { now: NOW, nameChoice: 2 });
  expect(second).toMatchObject({
    value: { metadata: { name: expect.stringMatching(/[.]1622707344-2$/) } },
  });
});

test('a Diagnosis names its Trigger and its alert', () => {
  const fixture = madeOf(LABELS);
  if ('why' in fixture) throw new Error(fixture.why);
  expect(originIn(fixture.metadata.annotations)).toBe(originOf(trigger(), alert(LABELS)));
  expect(originIn({ 'diagnosis.kubediag.org/trigger': 'clock' })).toBeUndefined();
  expect(originIn()).toBeUndefined();
});

test.each([
  [{ labels: {} }, 'no labels'],
  ['alert', 'no labels'],
  [{ labels: ['a'] }, '"labels" is not an object of strings'],
  [{ labels: { a: 1 } }, '"a" is not a string'],
  [{ labels: { a: 'x'.repeat(16_385) } }, '"a" has 16385 characters, and the limit is 16384'],
  [{ labels: { a: 'b' }, annotations: { c: null } }, '"c" is not a string'],
  [{ labels: { a: 'b' }, startsAt: 'today' }, '"startsAt" is "today": not a time'],
  [{ labels: { a: 'b' }, endsAt: 5 }, '"endsAt" is not a string'],
])('the alert %j is refused', (given, why) => {
  const read = readAlert(given, NOW);
  expect(read).toEqual({ ok: false, why: expect.stringContaining(why) });
});

test.each([
  ['an end in the past', { endsAt: '2021-06-03T08:02:24Z' }, true],
  ['an end that is still to come', { endsAt: '2021-06-03T08:02:25Z' }, false],
  ['no end', {}, false],
  ['the time that Go has for none', { endsAt: '0001-01-01T00:00:00Z' }, false],
  ['the word of the webhook', { status: 'resolved' }, true],
])('an alert with %s', (_, fields, isResolved) => {
  expect(readAlert({ labels: { a: 'b' }, ...fields }, NOW)).toMatchObject({
    value: { isResolved },
  });
});
