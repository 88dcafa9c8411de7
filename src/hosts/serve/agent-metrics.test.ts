import { expect, test } from 'vitest';
import type { StepToRun } from '../../pipeline/steps/step-to-run.ts';
import { ROWS_PER_PAGE } from '../../pipeline/store/limits.ts';
import { openMemoryStore } from '../../pipeline/store/sqlite-store.ts';
import { DIAGNOSES_LISTED_MAX, OPERATIONS_COUNTED_MAX } from '../web/limits.ts';
import { AgentMetrics } from './agent-metrics.ts';

const IDLE = { inFlight: 0, queued: 0 };
const step = (name: string) => ({ name }) as StepToRun;
const diagnosis = (name: string) => ({
  apiVersion: 'diagnosis.kubediag.org/v1',
  kind: 'Diagnosis' as const,
  metadata: { name, namespace: 'default' },
  spec: { operationSet: 'set', nodeName: 'my-node' },
});

test('counts ended Diagnoses and times steps under the metric names of every KubeDiag', async () => {
  const store = openMemoryStore();
  const numbers = new AgentMetrics();
  const fixture = await store.create(diagnosis('a'));
  const status = { phase: 'Succeeded', result: 'Repaired' };
  const done = await store.updateStatus({ ...fixture, status });
  numbers.ended(done);
  numbers.ended({ ...done, status: { phase: 'Failed', result: 'NothingFound' } });
  const succeed = numbers.timed(async () => ({ succeeded: true, results: {} }));
  const fail = numbers.timed(async () => ({ succeeded: false, message: 'no' }));
  await succeed(step('a'));
  await succeed(step('a'));
  await fail(step('b'));
  numbers.answered(200, 500);
  const text = await numbers.text(store, { inFlight: 2, queued: 1 });
  for (const line of [
    'diagnosis_total_count 2',
    'diagnosis_total_success_count 1',
    'diagnosis_total_fail_count 1',
    'kubediag_diagnoses_ended_total{result="Repaired"} 1',
    'kubediag_diagnoses_ended_total{result="NothingFound"} 1',
    'diagnosis_agent_queued_count 1',
    'kubediag_diagnoses_in_flight 2',
    'executor_operation_success_counter 2',
    'executor_operation_fail_counter 1',
    'kubediag_operation_duration_seconds_count{operation="a"} 2',
    'kubediag_http_request_duration_seconds_sum{code="200"} 0.5',
    'kubediag_diagnoses{phase="Succeeded",result="Repaired"} 1',
    'diagnosis_info{name="a",operationset="set",phase="Succeeded",namespace="default",result="Repaired"} 1',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
});

test('limits the metrics of many Diagnoses and Operations', async () => {
  const store = openMemoryStore();
  const numbers = new AgentMetrics();
  const many = Array.from({ length: DIAGNOSES_LISTED_MAX + 5 }, (_, index) => `d${index}`);
  await Promise.all(many.map((name) => store.create(diagnosis(name))));
  const run = numbers.timed(async () => ({ succeeded: true, results: {} }));
  for (let index = 0; index < OPERATIONS_COUNTED_MAX + 5; index += 1) await run(step(`o${index}`));
  const text = await numbers.text(store, IDLE);
  expect(text.match(/^diagnosis_info\{/gm)).toHaveLength(DIAGNOSES_LISTED_MAX);
  expect(text).toContain(`kubediag_diagnoses{phase="",result=""} ${many.length}\n`);
  expect(text).toContain('kubediag_operation_duration_seconds_count{operation="other"} 5\n');
});

test('other requests go on while many objects are counted', async () => {
  const store = openMemoryStore();
  const many = Array.from({ length: 20 * ROWS_PER_PAGE }, (_, index) => `d${index}`);
  await Promise.all(many.map((name) => store.create(diagnosis(name))));
  let semaphore = 0;
  let isDone = false;
  const count = () => {
    semaphore += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await new AgentMetrics().text(store, IDLE);
  isDone = true;
  expect(semaphore).toBeGreaterThanOrEqual(20);
});
