import type { NodeCheck } from '../../../pipeline/channel/node-check.ts';
import { gauge, type Metric, type Sample } from '../../web/metrics.ts';
import type { NodeState } from './node-state.ts';

/** Seconds. A healthy node takes less than one; a dead mount costs some. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
const STATES = ['damaged', 'active', 'latent'] as const;

/** The standing check of a node, for Prometheus. Its labels are faults and states: they are few. */
export class CheckMetrics {
  readonly #atMost = new Map<number, number>(BUCKETS.map((bucket) => [bucket, 0]));
  #count = 0;
  #seconds = 0;
  #state: NodeState | undefined;

  /** Counts one check. */
  count({ durationMs }: NodeCheck): void {
    const seconds = durationMs / 1_000;
    this.#count += 1;
    this.#seconds += seconds;
    for (const [bucket, count] of this.#atMost) {
      if (seconds <= bucket) this.#atMost.set(bucket, count + 1);
    }
  }

  /** Shows what is known now. */
  show(state: NodeState): void {
    this.#state = state;
  }

  all(): readonly Metric[] {
    return [
      {
        name: 'kubediag_node_check_duration_seconds',
        type: 'histogram',
        help: 'Duration of the checks of this node.',
        samples: this.#durations(),
      },
      ...(this.#state?.check ? stateMetrics(this.#state, this.#state.check) : []),
    ];
  }

  #durations(): readonly Sample[] {
    const buckets = [...this.#atMost].map(([bucket, value]) => ({ le: String(bucket), value }));
    return [
      ...[...buckets, { le: '+Inf', value: this.#count }].map(({ le, value }) => ({
        suffix: '_bucket',
        labels: { le },
        value,
      })),
      { suffix: '_sum', value: this.#seconds },
      { suffix: '_count', value: this.#count },
    ];
  }
}

function stateMetrics({ findings }: NodeState, check: NodeCheck): readonly Metric[] {
  const known = [...findings.values()];
  const faults = check.faults.map(({ fault }) => fault);
  const countOf = (fault: string, state: string) =>
    known.filter((each) => each.fault === fault && each.state === state).length;
  return [
    gauge(
      'kubediag_node_findings',
      'Findings on this node, by fault and state.',
      faults.flatMap((fault) =>
        STATES.map((state) => ({ labels: { fault, state }, value: countOf(fault, state) })),
      ),
    ),
    gauge(
      'kubediag_node_unknowns',
      'What the last check of this node could not determine, by fault.',
      faults.map((fault) => ({
        labels: { fault },
        value: check.unknowns.filter((each) => each.fault === fault).length,
      })),
    ),
    gauge(
      'kubediag_node_last_check_timestamp_seconds',
      'When the last check of this node ended.',
      Date.parse(check.time) / 1_000,
    ),
  ];
}
