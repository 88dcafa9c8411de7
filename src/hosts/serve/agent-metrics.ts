import { setImmediate as nextTurn } from 'node:timers/promises';
import { textAt } from '../../lib/std/json.ts';
import type { KindName } from '../../pipeline/api/kinds.ts';
import type { RunStep } from '../../pipeline/steps/step-to-run.ts';
import { ROWS_PER_PAGE } from '../../pipeline/store/limits.ts';
import type { Store, StoredObject } from '../../pipeline/store/store.ts';
import type { TriggerEvent } from '../../pipeline/triggers/trigger-event.ts';
import { DIAGNOSES_LISTED_MAX } from '../web/limits.ts';
import { type Metric, metricsText, type Sample } from '../web/metrics.ts';
import type { IntakeResult } from './intake.ts';
import { OPERATIONS_COUNTED_MAX } from './limits.ts';

interface Taken {
  count: number;
  seconds: number;
}

type Source = TriggerEvent['source'];

/** What this agent has done since its start, for Prometheus, with the names of every KubeDiag. */
export class AgentMetrics {
  readonly #requests = new Map<string, Taken>();
  readonly #steps = new Map<string, Taken>();
  readonly #counts = { succeeded: 0, failed: 0, stepSucceeded: 0, stepFailed: 0, stepWaits: 0 };
  readonly #taken = new Map<string, number>();
  readonly #results = new Map<string, number>();

  answered(code: number, tookMs: number): void {
    add(this.#requests, String(code), tookMs);
  }

  taken(source: Source, came: IntakeResult): void {
    increment(this.#taken, `${source} ${came}`);
  }

  ended(object: StoredObject): void {
    this.#counts[object.status?.phase === 'Succeeded' ? 'succeeded' : 'failed'] += 1;
    increment(this.#results, textAt(object, 'status', 'result') ?? '');
  }

  /** The same step, counted and timed. */
  timed(run: RunStep): RunStep {
    return async (step) => {
      const begun = performance.now();
      const outcome = await run(step);
      const isOther = !this.#steps.has(step.name) && this.#steps.size >= OPERATIONS_COUNTED_MAX;
      add(this.#steps, isOther ? 'other' : step.name, performance.now() - begun);
      if ('wanted' in outcome) this.#counts.stepWaits += 1;
      else this.#counts[outcome.succeeded ? 'stepSucceeded' : 'stepFailed'] += 1;
      return outcome;
    };
  }

  async text(
    store: Store,
    { inFlight, queued }: { readonly inFlight: number; readonly queued: number },
  ): Promise<string> {
    const { succeeded, failed, stepSucceeded, stepFailed, stepWaits } = this.#counts;
    const byResult = [...this.#results].map(([result, value]) => ({ labels: { result }, value }));
    return metricsText([
      counter('diagnosis_total_count', 'Diagnoses that ended.', succeeded + failed),
      counter('diagnosis_total_success_count', 'Diagnoses that succeeded.', succeeded),
      counter('diagnosis_total_fail_count', 'Diagnoses that failed.', failed),
      counter(
        'kubediag_diagnoses_ended_total',
        'Diagnoses that ended, by status.result. A healthy node gives NothingFound, which is not a failure.',
        byResult,
      ),
      gauge('diagnosis_agent_queued_count', 'Diagnoses in the queue.', queued),
      gauge('kubediag_diagnoses_in_flight', 'Running Diagnoses.', inFlight),
      counter('executor_operation_success_counter', 'Steps that succeeded.', stepSucceeded),
      counter('executor_operation_fail_counter', 'Steps that failed.', stepFailed),
      counter('kubediag_steps_not_approved_total', 'Steps that waited for approval.', stepWaits),
      duration('kubediag_operation', 'steps', 'operation', this.#steps),
      duration('kubediag_http_request', 'HTTP requests', 'code', this.#requests),
      ...this.#intake('prometheus_alert', 'Alerts', 'alertmanager', 'prometheusAlertTemplate'),
      ...this.#intake('common_event', 'Events', 'common_event', 'commonEventTemplate'),
      ...(await stored(store)),
    ]);
  }

  #intake(name: string, what: string, creator: string, source: Source): readonly Metric[] {
    const of = (came: IntakeResult) => this.#taken.get(`${source} ${came}`) ?? 0;
    const created = `${creator}_diagnosis_generation`;
    const notCreated = 'Diagnoses that could not be created.';
    return [
      counter(`${name}_received_count`, `${what} received.`, of('received')),
      counter(`${created}_success_count`, 'Diagnoses created by Triggers.', of('created')),
      counter(`${created}_error_count`, notCreated, of('not-created')),
    ];
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function add(map: Map<string, Taken>, key: string, tookMs: number): void {
  const taken = map.get(key) ?? { count: 0, seconds: 0 };
  taken.count += 1;
  taken.seconds += tookMs / 1_000;
  map.set(key, taken);
}

function counter(name: string, help: string, given: number | readonly Sample[]): Metric {
  return { ...gauge(name, help, given), type: 'counter' };
}

function gauge(name: string, help: string, given: number | readonly Sample[]): Metric {
  const samples = typeof given === 'number' ? [{ value: given }] : given;
  return { name, type: 'gauge', help, samples };
}

function duration(
  name: string,
  what: string,
  label: string,
  map: ReadonlyMap<string, Taken>,
): Metric {
  const samples = [...map].flatMap(([key, { count, seconds }]) => [
    { labels: { [label]: key }, value: seconds, suffix: '_sum' },
    { labels: { [label]: key }, value: count, suffix: '_count' },
  ]);
  const help = `Duration of ${what}.`;
  return { name: `${name}_duration_seconds`, type: 'summary', help, samples };
}

/** What the store holds: all Diagnoses are counted, and the first ones are listed by name. */
async function stored(store: Store): Promise<readonly Metric[]> {
  const phases = new Map<string, Sample>();
  const listed: Sample[] = [];
  for await (const object of paced(store, 'Diagnosis')) {
    const phase = textAt(object, 'status', 'phase') ?? '';
    const result = textAt(object, 'status', 'result') ?? '';
    const key = `${phase} ${result}`;
    const { value = 0 } = phases.get(key) ?? {};
    phases.set(key, { labels: { phase, result }, value: value + 1 });
    if (listed.length >= DIAGNOSES_LISTED_MAX) continue;
    const operationset = textAt(object, 'spec', 'operationSet') ?? '';
    const { name, namespace = '' } = object.metadata;
    listed.push({ labels: { name, operationset, phase, namespace, result }, value: 1 });
  }
  const byPhase = [...phases.values()];
  return [
    gauge('kubediag_diagnoses', 'Diagnoses in the store, by phase and result.', byPhase),
    gauge('diagnosis_info', `The first ${DIAGNOSES_LISTED_MAX} Diagnoses, by name.`, listed),
    gauge('operation_info', 'Operations by name.', await named(store, 'Operation')),
    gauge('operationset_info', 'OperationSets by name.', await named(store, 'OperationSet')),
    gauge('trigger_info', 'Triggers by name.', await named(store, 'Trigger')),
  ];
}

async function named(store: Store, kind: KindName): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for await (const { metadata, status } of paced(store, kind)) {
    const ready = kind === 'OperationSet' ? { ready: String(Boolean(status?.ready)) } : {};
    samples.push({ labels: { name: metadata.name, ...ready }, value: 1 });
  }
  return samples;
}

/** All objects of a kind. Yields to the event loop after each page, for a large store takes long. */
async function* paced(store: Store, kind: KindName): AsyncGenerator<StoredObject> {
  const { objects } = await store.each(kind);
  let count = 0;
  for await (const object of objects) {
    yield object;
    count += 1;
    if (count % ROWS_PER_PAGE === 0) await nextTurn();
  }
}
