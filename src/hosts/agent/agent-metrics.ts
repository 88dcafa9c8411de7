import { setImmediate as nextTurn } from 'node:timers/promises';
import { textAt } from '../../lib/std/json.ts';
import type { KindName } from '../../pipeline/api/kinds.ts';
import type { StepOutcome, StepToRun } from '../../pipeline/diagnosis/run-step.ts';
import { ROWS_PER_PAGE } from '../../pipeline/store/limits.ts';
import type { Store, StoredObject } from '../../pipeline/store/store.ts';
import type { TriggerEvent } from '../../pipeline/triggers/trigger-event.ts';
import { DIAGNOSES_LISTED_MAX } from '../web/limits.ts';
import { type Metric, metricsText } from '../web/metrics.ts';
import type { IntakeResult } from './intake.ts';
import { OPERATIONS_COUNTED_MAX } from './limits.ts';

interface Taken {
  count: number;
  seconds: number;
}

/** What this agent has done since its start, for Prometheus, with the names of every KubeDiag. */
export class AgentMetrics {
  readonly #requests = new Map<number, Taken>();
  readonly #steps = new Map<string, Taken>();
  readonly #counts = { succeeded: 0, failed: 0, stepSucceeded: 0, stepFailed: 0, stepWaits: 0 };

  readonly #taken = new Map<string, number>();
  readonly #results = new Map<string, number>();

  answered(code: number, tookMs: number): void {
    add(this.#requests, code, tookMs);
  }

  taken(source: TriggerEvent['source'], came: IntakeResult): void {
    const key = `${source} ${came}`;
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
  }

  ended(object: StoredObject): void {
    if (object.status?.phase === 'Succeeded') this.#counts.succeeded += 1;
    else this.#counts.failed += 1;
    const result = textAt(object, 'status', 'result') ?? '';
    this.#results.set(result, (this.#results.get(result) ?? 0) + 1);
  }

  /** The same step, counted and timed. */
  timed(run: (step: StepToRun) => Promise<StepOutcome>) {
    return async (step: StepToRun): Promise<StepOutcome> => {
      const begun = performance.now();
      const outcome = await run(step);
      const isOther = !this.#steps.has(step.name) && this.#steps.size >= OPERATIONS_COUNTED_MAX;
      add(this.#steps, isOther ? 'other' : step.name, performance.now() - begun);
      if ('wanted' in outcome) this.#counts.stepWaits += 1;
      else if (outcome.succeeded) this.#counts.stepSucceeded += 1;
      else this.#counts.stepFailed += 1;
      return outcome;
    };
  }

  async text(
    store: Store,
    { inFlight, queued }: { readonly inFlight: number; readonly queued: number },
  ): Promise<string> {
    const { succeeded, failed, stepSucceeded, stepFailed, stepWaits } = this.#counts;
    return metricsText([
      counter('diagnosis_total_count', 'Diagnoses that ended.', succeeded + failed),
      counter('diagnosis_total_success_count', 'Diagnoses that succeeded.', succeeded),
      counter('diagnosis_total_fail_count', 'Diagnoses that failed.', failed),
      counterBy(
        'kubediag_diagnoses_ended_total',
        'Diagnoses that ended, by status.result. A healthy node gives NothingFound, which is not a failure.',
        'result',
        this.#results,
      ),
      gauge('diagnosis_agent_queued_count', 'Diagnoses in the queue.', queued),
      gauge('kubediag_diagnoses_in_flight', 'Running Diagnoses.', inFlight),
      counter('executor_operation_success_counter', 'Steps that succeeded.', stepSucceeded),
      counter('executor_operation_fail_counter', 'Steps that failed.', stepFailed),
      counter('kubediag_steps_not_approved_total', 'Steps that waited for approval.', stepWaits),
      takenBy(
        'kubediag_operation_duration_seconds',
        'Duration of steps.',
        'operation',
        this.#steps,
      ),
      takenBy(
        'kubediag_http_request_duration_seconds',
        'Duration of HTTP requests.',
        'code',
        this.#requests,
      ),
      ...this.#intake(),
      ...(await stored(store)),
    ]);
  }

  #intake(): readonly Metric[] {
    const of = (source: TriggerEvent['source'], came: IntakeResult) =>
      this.#taken.get(`${source} ${came}`) ?? 0;
    const created = (name: string, source: TriggerEvent['source']) => [
      counter(`${name}_success_count`, 'Diagnoses created by Triggers.', of(source, 'created')),
      counter(
        `${name}_error_count`,
        'Diagnoses that could not be created.',
        of(source, 'not-created'),
      ),
    ];
    const [alert, event] = ['prometheusAlertTemplate', 'commonEventTemplate'] as const;
    return [
      counter('prometheus_alert_received_count', 'Alerts received.', of(alert, 'received')),
      ...created('alertmanager_diagnosis_generation', alert),
      counter('common_event_received_count', 'Events received.', of(event, 'received')),
      ...created('common_event_diagnosis_generation', event),
    ];
  }
}

function add<K>(map: Map<K, Taken>, key: K, tookMs: number): void {
  const taken = map.get(key) ?? { count: 0, seconds: 0 };
  taken.count += 1;
  taken.seconds += tookMs / 1_000;
  map.set(key, taken);
}

function counter(name: string, help: string, value: number): Metric {
  return { name, type: 'counter', help, samples: [{ value }] };
}

function counterBy(
  name: string,
  help: string,
  label: string,
  counts: ReadonlyMap<string, number>,
): Metric {
  const samples = [...counts].map(([each, value]) => ({ labels: { [label]: each }, value }));
  return { name, type: 'counter', help, samples };
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, type: 'gauge', help, samples: [{ value }] };
}

function takenBy<K>(name: string, help: string, label: string, map: ReadonlyMap<K, Taken>): Metric {
  const samples = [...map].flatMap(([key, { count, seconds }]) => {
    const labels = { [label]: String(key) };
    return [
      { labels, value: seconds, suffix: '_sum' },
      { labels, value: count, suffix: '_count' },
    ];
  });
  return { name, type: 'summary', help, samples };
}

type Counted = Metric['samples'][number];

/** What the store holds: all Diagnoses are counted, and the first ones are listed by name. */
async function stored(store: Store): Promise<readonly Metric[]> {
  const phases = new Map<string, Counted>();
  const listed: Metric['samples'][number][] = [];
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
  return [
    info('kubediag_diagnoses', 'Diagnoses in the store, by phase and result.', [
      ...phases.values(),
    ]),
    info('diagnosis_info', `The first ${DIAGNOSES_LISTED_MAX} Diagnoses, by name.`, listed),
    info('operation_info', 'Operations by name.', await named(store, 'Operation')),
    info('operationset_info', 'OperationSets by name.', await named(store, 'OperationSet')),
    info('trigger_info', 'Triggers by name.', await named(store, 'Trigger')),
  ];
}

async function named(
  store: Store,
  kind: 'Operation' | 'OperationSet' | 'Trigger',
): Promise<Metric['samples']> {
  const samples: Metric['samples'][number][] = [];
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

function info(name: string, help: string, samples: Metric['samples']): Metric {
  return { name, type: 'gauge', help, samples };
}
