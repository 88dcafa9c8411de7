import { printable } from '../../lib/std/printable.ts';
import { checkUp, type Judged, type PodName } from '../../node/checkup/judge-faults.ts';
import { makeReport } from '../../node/checkup/make-report.ts';
import { nodeFacts } from '../../node/checkup/node-facts.ts';
import type { Report } from '../../node/checkup/report.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { redactionRules } from '../../node/faults/index.ts';
import type { Snapshot, SnapshotOptions } from '../../node/model/evidence.ts';
import type { AnyFault } from '../../node/model/fault.ts';
import { sourceOf } from '../../node/model/node-reader.ts';
import type { LiveNode } from '../../node/reader/live-node.ts';
import type { Bundle } from '../../node/recording/bundle.ts';
import { RecordingNode } from '../../node/recording/recorded-node.ts';
import { questionOf, type Recorded, type Recording } from '../../node/recording/recording.ts';
import { redactAnswers } from '../../node/redaction/redact.ts';
import { VERSION } from './product-version.ts';

export interface CheckResult {
  readonly report: Report;
  readonly judged: readonly Judged[];
  /** Judges a changed copy of the snapshot; reads nothing again. */
  readonly judgeAgain: (change: (snapshot: Snapshot) => Snapshot) => Promise<readonly Judged[]>;
  /** All questions and answers, unchanged. */
  readonly recording: Recording;
  /** The recording without private data. Created on demand, because it is large. */
  readonly bundle: () => Bundle;
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

/** Checks the live node once, within the time limit, and records all answers. */
export async function runCheck(
  node: LiveNode,
  asked: CheckRun,
  { progress, detail }: CheckListener,
): Promise<CheckResult> {
  const begun = performance.now();
  const limit = `the time limit of ${asked.timeoutMs / 1000} s (--timeout) was reached`;
  const timer = setTimeout(() => node.endCheck(limit), asked.timeoutMs);
  const recorder = new RecordingNode(node);
  const shown = new WaitsShown(node, progress);
  const snapshot = takeSnapshot(recorder, asked.settings, (title) =>
    shown.doing(`reading: ${title}`),
  );
  const judged = await checkUp(asked.faults, snapshot, asked.only);
  const facts = await nodeFacts(snapshot);
  clearTimeout(timer);
  shown.end();
  const tookMs = Math.round(performance.now() - begun);
  const { clock, answers } = recorder.recording;
  for (const [key, recorded] of answers) detail(() => `asked ${reported(key, recorded)}\n`);
  return {
    report: makeReport({ ...facts, tookMs }, judged),
    judged,
    judgeAgain: (change) => checkUp(asked.faults, change(snapshot), asked.only),
    recording: recorder.recording,
    bundle: () => ({
      recording: { clock, answers: redactAnswers(answers, redactionRules) },
      madeBy: VERSION,
      tookMs,
      settings: { ...asked.settings },
    }),
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
  readonly #timer: NodeJS.Timeout;
  #doing = '';

  constructor(node: Pick<LiveNode, 'longestWait'>, progress: (text: string) => void) {
    this.#progress = progress;
    this.#timer = setInterval(() => {
      const wait = node.longestWait;
      const isLong = wait !== undefined && wait.waitedMs >= SHOWN_FROM_MS;
      progress(isLong ? waitText(wait) : this.#doing);
    }, EACH_MS).unref();
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

type Wait = NonNullable<LiveNode['longestWait']>;

/** "waiting for …/volumes/kubernetes.io~nfs/share (3 of 6 s)" */
export function waitText({ source, waitedMs, limitMs }: Wait): string {
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
