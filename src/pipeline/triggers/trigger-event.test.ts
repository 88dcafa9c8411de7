import { expect, test } from 'vitest';
import { fingerprintOf, signatureOf } from './trigger-event.ts';

test.each([
  [{ alertname: 'alert1', node: 'node1' }, 'dba0d72f35ab0374'],
  [{ node: 'node1', alertname: 'alert1' }, 'dba0d72f35ab0374'],
  [{}, 'cbf29ce484222325'],
])('the fingerprint of %j', (labels, wanted) => {
  expect(fingerprintOf(labels)).toBe(wanted);
});

test('the borders of strings are part of the hash', () => {
  expect(fingerprintOf({ a: 'bc' })).not.toBe(fingerprintOf({ ab: 'c' }));
});

test('the signature of an event', () => {
  const event = {
    summary: "Host '10.10.101.101' high CPU load ",
    source: '10.10.101.101',
    severity: 'Warning',
    class: 'highCPU',
    group: 'load',
    component: 'webPing',
    timestamp: '2015-07-17T08:42:58.315+0000',
    customDetails: { 'ping time': '2000ms', 'load avg': '0.75' },
  };
  expect(signatureOf(event)).toBe('10660048754536419929');
});
