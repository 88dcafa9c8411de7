import type { CheckMemory } from '../../../node/checkup/check-memory.ts';
import { checkAgainInMs } from '../../../node/checkup/judge-faults.ts';
import { createProbe, type Probe, type ProbedNode } from '../../../node/checkup/probe-node.ts';
import { type CheckableNode, runCheck } from '../../../node/checkup/run-check.ts';
import type { SnapshotOptions } from '../../../node/model/evidence.ts';
import type { AnyFault } from '../../../node/model/fault.ts';
import type { NodeReader } from '../../../node/model/node-reader.ts';
import type { QuickReader } from '../../../node/model/quick-reader.ts';
import type { NodeCheck } from '../../../pipeline/channel/node-check.ts';
import { VERSION } from '../../local-node/product-version.ts';
import { checkAgainAfter } from './check-again.ts';
import { CheckSchedule } from './check-schedule.ts';
import { CHECK_MS, PROBE_MS, PROBE_TIMEOUT_MS } from './limits.ts';
import { nodeCheckOf } from './node-check-of.ts';

/** A node that is checked again and again; between two checks it has no reader. */
export interface StandingNode extends CheckableNode {
  beginCheck(): void;
  pause(): void;
  close(): void;
}

export interface StandingCheckOptions {
  /** Called twice: the probe has a node of its own. */
  readonly openNode: () => StandingNode;
  /** What the probe reads each time, without a reader. */
  readonly tables: NodeReader;
  /** What the probe reads each time of names and files. */
  readonly quick?: QuickReader & { close(): void };
  readonly faults: readonly AnyFault[];
  readonly settings: SnapshotOptions;
  readonly memory: CheckMemory;
  /** Receives every check. */
  readonly onCheck: (check: NodeCheck) => void;
  /** Called with the reason before each check. */
  readonly onBegin?: (why: string) => void;
  readonly stop: AbortSignal;
}

/**
 * Checks a node for all faults until it is stopped: at an interval, and when the probe says that the
 * node has changed. One node serves all checks, so that a path on which a reader hangs is not touched
 * again, and the number of such readers has its limit.
 */
export class StandingCheck {
  readonly #options: StandingCheckOptions;
  readonly #schedule = new CheckSchedule(performance.now());
  #why = 'the first check';
  #wake: () => void = () => {};
  #last: NodeCheck | undefined;

  constructor(options: StandingCheckOptions) {
    this.#options = options;
  }

  /** Checks as soon as it is permitted: a step may have changed the node. */
  checkSoon(why: string): void {
    this.#want(why);
    this.#wake();
  }

  async run(): Promise<void> {
    const { openNode, tables, quick, settings, stop } = this.#options;
    const [node, probed] = [openNode(), openNode()];
    const probe = createProbe(settings);
    const end = () => {
      this.#wake();
      node.endCheck('the executor ends');
      probed.endCheck('the executor ends');
    };
    stop.addEventListener('abort', end, { once: true });
    let digest: string | undefined;
    let checkedMs: number | undefined;
    while (!stop.aborted) {
      const now = await probeInTime(probe, { tables, node: probed, quick, checkedMs });
      if (digest !== undefined && digest !== now) this.#want(`changed: ${changedIn(digest, now)}`);
      digest = now;
      if (this.#schedule.isDue(performance.now())) {
        await this.checkOnce(node);
        checkedMs = tables.now().getTime();
      }
      await this.#sleep();
    }
    stop.removeEventListener('abort', end);
    node.close();
    probed.close();
    quick?.close();
  }

  /** Checks the node now. */
  async checkOnce(node: StandingNode): Promise<void> {
    const { faults, memory, onCheck, onBegin, stop } = this.#options;
    onBegin?.(this.#why);
    this.#why = 'the interval';
    this.#schedule.begin();
    const begunMs = performance.now();
    node.beginCheck();
    const settings = memory.addedTo(this.#options.settings);
    const run = { faults, settings, timeoutMs: CHECK_MS };
    const { report, judged, recording } = await runCheck(node, run, SILENT);
    await memory.keep(recording, settings);
    node.close();
    const check = nodeCheckOf(report, judged, VERSION, node.now());
    const againInMs = checkAgainAfter(this.#last, check, checkAgainInMs(judged));
    this.#schedule.end(begunMs, performance.now(), againInMs);
    // An interrupted check says less than the one before.
    if (stop.aborted) return;
    const gone = goneBetween(this.#last, check);
    if (gone !== undefined) this.#want(`to confirm that ${gone} is gone`);
    this.#last = check;
    onCheck(check);
  }

  #want(why: string): void {
    this.#why = why;
    this.#schedule.want();
  }

  #sleep(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, PROBE_MS);
    this.#wake = () => {
      clearTimeout(timer);
      resolve();
    };
    if (this.#options.stop.aborted) this.#wake();
    return promise;
  }
}

/** What a probe says whose reads are ended at its limit; the next one reads again. */
async function probeInTime(probe: Probe, probed: ProbedNode & { readonly node: StandingNode }) {
  const { node } = probed;
  node.beginCheck();
  const limit = `the time limit of the probe, ${PROBE_TIMEOUT_MS / 1_000} s, was reached`;
  const timer = setTimeout(() => node.endCheck(limit), PROBE_TIMEOUT_MS);
  const digest = await probe(probed);
  clearTimeout(timer);
  return digest;
}

const SILENT = { progress: () => {}, detail: () => {} };

/** A fault of which the check before had a finding that this one has not. */
function goneBetween(before: NodeCheck | undefined, now: NodeCheck): string | undefined {
  const ids = new Set(now.findings.map(({ id }) => id));
  return before?.findings.find(({ id }) => !ids.has(id))?.fault;
}

// kubelet=812/1532 runtime=640/311 mounts=ab12 log=cd34 health=ok
function changedIn(before: string, now: string): string {
  const were = new Set(before.split(' '));
  const changed = now.split(' ').filter((part) => !were.has(part));
  return changed.map((part) => part.split('=')[0]).join(', ');
}
