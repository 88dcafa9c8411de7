import { textAt } from '../../lib/std/json.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';
import { OPERATIONS_COUNTED_MAX } from './limits.ts';
import { counter, gauge, type Metric } from './metrics.ts';

interface Taken {
  count: number;
  seconds: number;
}

/** A step that waits for approval has no `succeeded`. */
type Outcome = { readonly succeeded: boolean } | { readonly planned: unknown };

/** What an agent has done since its start, for Prometheus, with the names of every KubeDiag. */
export class RunMetrics {
  readonly #requests = new Map<string, Taken>();
  readonly #steps = new Map<string, Taken>();
  readonly #counts = { succeeded: 0, failed: 0, stepSucceeded: 0, stepFailed: 0, stepWaits: 0 };
  readonly #results = new Map<string, number>();

  answered(code: number, tookMs: number): void {
    add(this.#requests, String(code), tookMs);
  }

  ended(object: StoredObject): void {
    this.#counts[object.status?.phase === 'Succeeded' ? 'succeeded' : 'failed'] += 1;
    increment(this.#results, textAt(object, 'status', 'result') ?? '');
  }

  /** The same step, counted and timed. */
  timed<S extends { readonly name: string }, O extends Outcome>(
    run: (step: S) => Promise<O>,
  ): (step: S) => Promise<O> {
    return async (step) => {
      const begun = performance.now();
      const outcome = await run(step);
      const isOther = !this.#steps.has(step.name) && this.#steps.size >= OPERATIONS_COUNTED_MAX;
      add(this.#steps, isOther ? 'other' : step.name, performance.now() - begun);
      if ('planned' in outcome) this.#counts.stepWaits += 1;
      else this.#counts[outcome.succeeded ? 'stepSucceeded' : 'stepFailed'] += 1;
      return outcome;
    };
  }

  metrics({
    inFlight,
    queued,
  }: {
    readonly inFlight: number;
    readonly queued: number;
  }): readonly Metric[] {
    const { succeeded, failed, stepSucceeded, stepFailed, stepWaits } = this.#counts;
    const byResult = [...this.#results].map(([result, value]) => ({ labels: { result }, value }));
    return [
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
    ];
  }
}

export function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function add(map: Map<string, Taken>, key: string, tookMs: number): void {
  const taken = map.get(key) ?? { count: 0, seconds: 0 };
  taken.count += 1;
  taken.seconds += tookMs / 1_000;
  map.set(key, taken);
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
