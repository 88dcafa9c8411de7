import { fieldAt, numberAt, textAt } from '../../lib/std/json.ts';
import { printable } from '../../lib/std/printable.ts';
import { checkUp, type Judged, type PodName } from '../../node/checkup/judge-faults.ts';
import { makeReport } from '../../node/checkup/make-report.ts';
import { nodeFacts } from '../../node/checkup/node-facts.ts';
import type { Report } from '../../node/checkup/report.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { logSignatures } from '../../node/faults/index.ts';
import type { Snapshot, SnapshotOptions } from '../../node/model/evidence.ts';
import type { AnyFault } from '../../node/model/fault.ts';
import { sourceOf } from '../../node/model/node-reader.ts';
import type { Bundle } from '../../node/reader/bundle.ts';
import { BundleError } from '../../node/reader/bundle-error.ts';
import type { LiveNode } from '../../node/reader/live-node.ts';
import { RecordedNode } from '../../node/reader/recorded-node.ts';
import { questionOf, type Recorded, type Recording } from '../../node/reader/recording.ts';
import { RecordingNode } from '../../node/reader/recording-node.ts';
import { redactAnswer, redactDetail } from '../../node/redaction/redact.ts';
import { VERSION } from './product-version.ts';
import { WaitsShown } from './waits-shown.ts';

export interface CheckResult {
  readonly report: Report;
  readonly judged: readonly Judged[];
  /** Judges what was seen once more, with this change; nothing is read again. */
  readonly judgeAgain: (change: (snapshot: Snapshot) => Snapshot) => Promise<readonly Judged[]>;
  /** All that was asked and answered, as it was. */
  readonly recording: Recording;
  /** The same without what is private. Made when it is wanted: it is large. */
  readonly bundle: () => Bundle;
}

export interface CheckRun {
  readonly faults: readonly AnyFault[];
  readonly settings: SnapshotOptions;
  readonly only?: PodName | undefined;
  readonly timeoutMs: number;
}

/** Who is told while it goes on. */
export interface CheckListener {
  /** What is looked at now; an empty text when that is over. */
  readonly progress: (text: string) => void;
  /** One line for each question that was asked; made for those alone who want to read it. */
  readonly detail: (text: () => string) => void;
}

/** Looks at the live node once, within the time limit, and keeps what was seen. */
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
    shown.doing(`looking: ${title}`),
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
      recording: { clock, answers: redacted(answers) },
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

/** Judges a recorded look, with the same words as when it was taken. */
export async function replayCheck(
  bundle: Bundle,
  faults: readonly AnyFault[],
  only: PodName | undefined,
): Promise<Report> {
  const snapshot = takeSnapshot(new RecordedNode(bundle.recording), settingsIn(bundle));
  const judged = await checkUp(faults, snapshot, only);
  return makeReport({ ...(await nodeFacts(snapshot)), tookMs: bundle.tookMs }, judged);
}

/** What the check had been told, when it is such as it can be told. */
export function settingsIn({ settings }: Pick<Bundle, 'settings'>): SnapshotOptions {
  const known = {
    kubeletPid: numberAt(settings, 'kubeletPid'),
    kubeletRoot: textAt(settings, 'kubeletRoot'),
    runtimeEndpoint: textAt(settings, 'runtimeEndpoint'),
    kubeletLog: textAt(settings, 'kubeletLog'),
    minimumAgeMs: numberAt(settings, 'minimumAgeMs'),
    waitedMs: waitsIn(settings),
  };
  const isSound = Object.entries(known).every(([name, value]) => settings[name] === value);
  if (!isSound) throw new BundleError('its settings make no sense');
  return known;
}

function waitsIn(settings: Bundle['settings']): SnapshotOptions['waitedMs'] {
  const waits = fieldAt(settings, 'waitedMs');
  if (typeof waits !== 'object' || waits === null || Array.isArray(waits)) return undefined;
  const isSound = Object.values(waits).every((ms) => Number.isFinite(ms) && Number(ms) >= 0);
  return isSound ? (waits as Readonly<Record<string, number>>) : undefined;
}

/** What was asked and answered, as it may leave the node. */
export function redacted(answers: ReadonlyMap<string, Recorded>): ReadonlyMap<string, Recorded> {
  const stored = new Map<string, Recorded>();
  for (const [key, recorded] of answers) {
    const { kind, question } = questionOf(key);
    if ('answer' in recorded) {
      stored.set(key, { answer: redactAnswer(kind, question, recorded.answer, logSignatures) });
    } else {
      const { failure, detail } = recorded;
      const safe = detail === undefined ? {} : { detail: redactDetail(kind, detail) };
      stored.set(key, { failure, ...safe });
    }
  }
  return stored;
}
