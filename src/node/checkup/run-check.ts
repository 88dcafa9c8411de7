import { printable } from '../../lib/std/printable.ts';
import type { Snapshot, SnapshotOptions } from '../model/evidence.ts';
import type { AnyFault } from '../model/fault.ts';
import { type LongWait, type NodeReader, sourceOf } from '../model/node-reader.ts';
import { RecordingNode } from '../recording/recorded-node.ts';
import { questionOf, type Recorded, type Recording } from '../recording/recording.ts';
import { type Judged, judgeFaults, type PodName } from './judge-faults.ts';
import { makeReport } from './make-report.ts';
import { nodeFacts } from './node-facts.ts';
import type { Report } from './report.ts';
import { takeSnapshot } from './take-snapshot.ts';

/** A node whose check can be ended, and which says what it waits for: the live node. */
export interface CheckableNode extends NodeReader {
  /** The question that has been waiting longest. */
  readonly longestWait: LongWait | undefined;
  /** Every question, waiting or later, is answered `not-asked` at once. */
  endCheck(why: string): void;
}

export interface CheckResult {
  readonly report: Report;
  readonly judged: readonly Judged[];
  /** Judges a changed copy of the snapshot; reads nothing again. */
  readonly judgeAgain: (change: (snapshot: Snapshot) => Snapshot) => Promise<readonly Judged[]>;
  /** All questions and answers, unchanged: they may hold private data. */
  readonly recording: Recording;
  readonly settings: SnapshotOptions;
}

export interface CheckRun {
  readonly faults: readonly AnyFault[];
  readonly settings: SnapshotOptions;
  readonly only?: PodName | undefined;
  readonly timeoutMs: number;
}

/** Receives progress. */
export interface CheckListener {
  /** Called with the current step; with an empty text at the end. */
  readonly progress: (text: string) => void;
  /** Called with one line for each question; the text is created only if it is shown. */
  readonly detail: (text: () => string) => void;
}

/** Checks a node once, within the time limit, and records all answers. */
export async function runCheck(
  node: CheckableNode,
  asked: CheckRun,
  { progress, detail }: CheckListener,
): Promise<CheckResult> {
  const begun = performance.now();
  const limit = `the time limit of ${asked.timeoutMs / 1000} s (--timeout) was reached`;
  const recorder = new RecordingNode(node);
  const shown = new WaitsShown(node, progress);
  const timer = setTimeout(() => {
    node.endCheck(limit);
    // A timer that went on would keep the process alive if the check never ended.
    shown.end();
  }, asked.timeoutMs);
  const { faults, settings, only } = asked;
  const snapshot = takeSnapshot(recorder, settings, (title) => shown.doing(`reading: ${title}`));
  const judge = async () => {
    const judged = await judgeFaults(faults, snapshot, only);
    return { judged, facts: await nodeFacts(snapshot) };
  };
  const { judged, facts } = await judge().finally(() => {
    clearTimeout(timer);
    shown.end();
  });
  const tookMs = Math.round(performance.now() - begun);
  const { recording } = recorder;
  for (const [key, recorded] of recording.answers) {
    detail(() => `asked ${reported(key, recorded)}\n`);
  }
  return {
    report: makeReport({ ...facts, tookMs }, judged),
    judged,
    judgeAgain: (change) => judgeFaults(faults, change(snapshot), only),
    recording,
    settings,
  };
}

function reported(key: string, recorded: Recorded): string {
  const { question } = questionOf(key);
  const answer = 'failure' in recorded ? (recorded.detail ?? recorded.failure) : 'answered';
  return printable(`${sourceOf(question)}: ${answer}`);
}

/** Shorter waits are not shown. */
const SHOWN_FROM_MS = 1_000;
const EACH_MS = 500;
/** Characters of a name, so that the seconds after it fit on a terminal of 80 columns. */
const NAME_CHARACTERS_MAX = 48;

/** Shows the current step of a check, or what it waits for, since when and for how long at most. */
export class WaitsShown {
  readonly #progress: (text: string) => void;
  readonly #timer: ReturnType<typeof setInterval>;
  #doing = '';

  constructor(node: Pick<CheckableNode, 'longestWait'>, progress: (text: string) => void) {
    this.#progress = progress;
    this.#timer = setInterval(() => {
      const wait = node.longestWait;
      const isLong = wait !== undefined && wait.waitedMs >= SHOWN_FROM_MS;
      progress(isLong ? waitText(wait) : this.#doing);
    }, EACH_MS);
  }

  doing(text: string): void {
    this.#doing = text;
    this.#progress(text);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#progress('');
  }
}

/** "waiting for …/volumes/kubernetes.io~nfs/share (3 of 6 s)" */
export function waitText({ source, waitedMs, limitMs }: LongWait): string {
  const limit = Math.round(limitMs / 1_000);
  const spent = Math.min(limit, Math.floor(waitedMs / 1_000));
  return `waiting for ${shortened(printable(source))} (${spent} of ${limit} s)`;
}

/** The end of a path identifies it, so the beginning is cut. */
function shortened(name: string): string {
  if (name.length <= NAME_CHARACTERS_MAX) return name;
  const end = name.slice(1 - NAME_CHARACTERS_MAX);
  const at = end.indexOf('/');
  return `…${at < 0 ? end : end.slice(at)}`;
}
