import { setImmediate as nextTurn } from 'node:timers/promises';
import { textAt } from '../../lib/std/json.ts';
import type { KindName } from '../../pipeline/api/kinds.ts';
import { ROWS_PER_PAGE } from '../../pipeline/store/limits.ts';
import type { Store, StoredObject } from '../../pipeline/store/store.ts';
import type { TriggerEvent } from '../../pipeline/triggers/trigger-event.ts';
import { DIAGNOSES_LISTED_MAX } from '../web/limits.ts';
import { counter, gauge, type Metric, metricsText, type Sample } from '../web/metrics.ts';
import { increment, RunMetrics } from '../web/run-metrics.ts';
import type { IntakeResult } from './intake.ts';

type Source = TriggerEvent['source'];

/** The metrics of an agent with a store of its own. */
export class AgentMetrics extends RunMetrics {
  readonly #taken = new Map<string, number>();

  taken(source: Source, came: IntakeResult): void {
    increment(this.#taken, `${source} ${came}`);
  }

  async text(
    store: Store,
    counts: { readonly inFlight: number; readonly queued: number },
  ): Promise<string> {
    return metricsText([
      ...this.metrics(counts),
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
