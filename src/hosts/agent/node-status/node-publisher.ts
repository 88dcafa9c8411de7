import type { NodeReportStatus } from '../../../pipeline/api/node-report.ts';
import type { NodeCheck } from '../../../pipeline/channel/node-check.ts';
import { STORE_WAIT_FIRST_MS } from '../../../pipeline/store/limits.ts';
import { answerOf, longer, spread } from '../../../pipeline/store/store-answer.ts';
import { isTemporary, type StoreError } from '../../../pipeline/store/store-error.ts';
import { CheckMetrics } from './check-metrics.ts';
import { eventsBetween, type FaultEvent } from './fault-events.ts';
import { EVENTS_WAITING_MAX, HEARTBEAT_MS, REFUSED_MS, SILENT_MS } from './limits.ts';
import type { NodeObjects, WrittenCondition } from './node-objects.ts';
import { afterSilence, initialState, type NodeState, withCheck } from './node-state.ts';
import {
  conditionOf,
  knownFindings,
  type NodeFaultCondition,
  reportOf,
  substanceOf,
} from './published-state.ts';

export interface NodePublisherOptions {
  readonly objects: NodeObjects;
  readonly recordEvent: (event: FaultEvent, nodeUid: string) => Promise<void>;
  readonly onError: (message: string) => void;
  readonly stop: AbortSignal;
  /** A clock that never goes back. */
  readonly nowMs?: () => number;
}

/** What was written last, and when. */
interface Written {
  readonly substance: string;
  readonly atMs: number;
}

/**
 * Publishes what the checks of a node amount to: the condition of the Node, the NodeReport and
 * Events. It compares what is known with what it has written, so that after an outage of the API
 * server it writes the newest state, once.
 */
export class NodePublisher {
  readonly metrics = new CheckMetrics();
  readonly #options: NodePublisherOptions;
  readonly #nowMs: () => number;
  #state: NodeState | undefined;
  /** The newest check that came before the state was restored. */
  #early: NodeCheck | undefined;
  #events: readonly FaultEvent[] = [];
  #condition: WrittenCondition | undefined;
  #conditionWritten: Written | undefined;
  #report: NodeReportStatus | undefined;
  #reportWritten: Written | undefined;
  #heardMs: number;
  /** There is something that was not yet tried to publish. */
  #isBehind = true;
  #wake: () => void = () => {};

  constructor(options: NodePublisherOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#heardMs = this.#nowMs();
  }

  /** Takes the newest check of the executor. One that it has sent before changes nothing. */
  take(check: NodeCheck): void {
    this.#heardMs = this.#nowMs();
    const isKnown = check.time === (this.#state?.check ?? this.#early)?.time;
    if (isKnown) return;
    this.metrics.count(check);
    if (this.#state) this.#apply(this.#state, check);
    else this.#early = check;
    this.#isBehind = true;
    this.#wake();
  }

  async run(): Promise<void> {
    const { stop, onError } = this.#options;
    const wake = () => this.#wake();
    stop.addEventListener('abort', wake, { once: true });
    let waitMs = STORE_WAIT_FIRST_MS;
    while (!stop.aborted) {
      this.#isBehind = !this.#state;
      const error = this.#state ? await this.#publish(this.#state) : await this.#restore();
      if (error) {
        onError(error.message);
        this.#isBehind = false;
        await this.#sleep(isTemporary(error) ? spread(waitMs, error.retryAfterMs) : REFUSED_MS);
        waitMs = longer(waitMs);
      } else {
        waitMs = STORE_WAIT_FIRST_MS;
        await this.#sleep(this.#restMs());
      }
    }
    stop.removeEventListener('abort', wake);
  }

  /** Continues where an earlier agent ended. */
  async #restore(): Promise<StoreError | undefined> {
    const { objects } = this.#options;
    const node = await answerOf(objects.readNode());
    if (!node.ok) return node.error;
    const report = await answerOf(objects.report());
    if (!report.ok) return report.error;
    this.#condition = node.value;
    const { value = {} } = report;
    this.#report = value;
    const known = knownFindings(value, this.#nowMs());
    this.#state = initialState(known, (value.findingsNotListed ?? 0) > 0);
    if (this.#early) this.#apply(this.#state, this.#early);
    return undefined;
  }

  #apply(state: NodeState, check: NodeCheck): void {
    const next = withCheck(state, check, this.#nowMs());
    this.#events = [...this.#events, ...eventsBetween(state, next)].slice(-EVENTS_WAITING_MAX);
    this.#state = next;
    this.metrics.show(next);
  }

  /** Writes what is not yet written. Returns the first error; a later part is tried all the same. */
  async #publish(known: NodeState): Promise<StoreError | undefined> {
    const isSilent = this.#nowMs() - this.#heardMs >= SILENT_MS;
    if (isSilent) this.#state = afterSilence(known);
    const report = isSilent ? silentReport(this.#report) : reportOf(known);
    const substance = report ? substanceOf(report) : (this.#conditionWritten?.substance ?? '');
    // What a check leaves as it was has heartbeats all the same: the agent and the executor are alive.
    const standing = known.check ? this.#condition : undefined;
    const condition = isSilent ? SILENT : (conditionOf(known) ?? standing);
    return [
      await answerOf(this.#writeCondition(condition, substance)),
      // Before the report: an agent that starts reports no Event for what the report has.
      await answerOf(this.#writeEvents()),
      await answerOf(this.#writeReport(report, substance)),
    ].find((answer) => !answer.ok)?.error;
  }

  async #writeCondition(
    condition: NodeFaultCondition | undefined,
    substance: string,
  ): Promise<void> {
    if (!condition) return;
    const last = this.#condition;
    const isChanged = condition.status !== last?.status || condition.reason !== last.reason;
    if (!isChanged && this.#isFresh(this.#conditionWritten, substance)) return;
    const now = new Date().toISOString();
    const isOther = condition.status !== last?.status;
    const written = { ...condition, lastTransitionTime: isOther ? now : last.lastTransitionTime };
    const { objects } = this.#options;
    const { nodeUid } = objects;
    await objects.writeCondition(written, now);
    // The Node was created again, and its report is deleted with the old one.
    if (objects.nodeUid !== nodeUid) this.#reportWritten = undefined;
    this.#condition = written;
    this.#conditionWritten = { substance, atMs: this.#nowMs() };
  }

  async #writeEvents(): Promise<void> {
    const { objects, recordEvent, onError } = this.#options;
    for (let event = this.#events[0]; event; event = this.#events[0]) {
      const answer = await answerOf(recordEvent(event, objects.nodeUid));
      if (!answer.ok && isTemporary(answer.error)) throw answer.error;
      if (!answer.ok) onError(answer.error.message);
      this.#events = this.#events.filter((each) => each !== event);
    }
  }

  async #writeReport(report: NodeReportStatus | undefined, substance: string): Promise<void> {
    if (!report || this.#isFresh(this.#reportWritten, substance)) return;
    await this.#options.objects.writeReport(report);
    this.#report = report;
    this.#reportWritten = { substance, atMs: this.#nowMs() };
  }

  #isFresh(written: Written | undefined, substance: string): boolean {
    if (written?.substance !== substance) return false;
    return this.#nowMs() - written.atMs < HEARTBEAT_MS;
  }

  /** Until the next heartbeat, or until the executor counts as silent. */
  #restMs(): number {
    const nowMs = this.#nowMs();
    const silentMs = this.#heardMs + SILENT_MS;
    const heartbeats = [this.#conditionWritten, this.#reportWritten].flatMap((written) =>
      written ? [written.atMs + HEARTBEAT_MS] : [],
    );
    const next = [...heartbeats, silentMs].filter((atMs) => atMs > nowMs);
    return Math.min(...next, nowMs + HEARTBEAT_MS) - nowMs + 1;
  }

  /** Until a check comes, or this time has passed. Not at all if one came meanwhile. */
  #sleep(ms: number): Promise<void> {
    if (this.#isBehind) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    if (this.#options.stop.aborted) this.#wake();
    return promise;
  }
}

/** The last report, without its verdict: what it found may be gone by now, and more may be there. */
function silentReport(last: NodeReportStatus | undefined): NodeReportStatus | undefined {
  return last?.checkTime === undefined ? undefined : { ...last, state: 'unknown' };
}

const SILENT: NodeFaultCondition = {
  status: 'Unknown',
  reason: 'ExecutorSilent',
  message: `The executor on this node has sent no check for ${SILENT_MS / 60_000}m. See the logs of its container.`,
};
