import { expect, test } from 'vitest';
import type { DiagnosisSpec, DiagnosisStatus } from '../api/diagnosis.ts';
import { decideNext, type SeenDiagnosis } from './decide-next.ts';

const POD = { namespace: 'shop', name: 'web-0', container: 'app' };
const startTime = '2021-06-02T07:28:55Z';
const PENDING: DiagnosisStatus = { phase: 'Pending', startTime };

function decided(
  spec: Partial<DiagnosisSpec>,
  pod?: SeenDiagnosis['pod'],
  status: DiagnosisStatus = PENDING,
) {
  const now = new Date(startTime);
  const set = { state: 'missing' } as const;
  const here = { hash: undefined, nodeName: 'my-node', whyMissing: () => undefined };
  return decideNext({ spec: { operationSet: 'set', ...spec }, status, set, pod, now, ...here });
}

test.each(['PodNotFound', 'ContainerNotFound'] as const)('with %s no step is run', (reason) => {
  const why = 'shop/web-0: nobody has it';
  expect(decided({ podReference: POD }, { state: 'absent', reason, why })).toMatchObject({
    kind: 'save',
    status: {
      phase: 'Failed',
      conditions: [{ type: 'Failed', reason, message: expect.stringContaining(why) }],
    },
  });
});

test('a condition reports that the pod could not be verified, and the Diagnosis runs', () => {
  const decision = decided(
    { podReference: POD },
    { state: 'unknown', why: 'the kubelet is silent' },
  );
  const message = 'The pod of the spec was not verified: the kubelet is silent';
  expect(decision).toMatchObject({
    kind: 'save',
    status: { phase: 'Running', conditions: [{}, { type: 'PodNotVerified', message }] },
  });
});

test('looks for the pod once, before the first step, and only if there is one', () => {
  expect(decided({ podReference: POD })).toEqual({ kind: 'find-pod', pod: POD });
  const targetSelector = { podReferences: [POD] };
  expect(decided({ targetSelector })).toEqual({ kind: 'find-pod', pod: POD });
  expect(decided({ nodeName: 'my-node' }).kind).toBe('save');
  expect(decided({ podReference: POD }, { state: 'found' }).kind).toBe('save');
  expect(decided({ podReference: POD, suspend: true }).kind).toBe('wait');
  const running: DiagnosisStatus = { phase: 'Running', startTime };
  expect(decided({ podReference: POD }, undefined, running).kind).toBe('wait');
});
