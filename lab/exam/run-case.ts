import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../src/lib/std/defined.ts';
import { messageOf } from '../../src/lib/std/message-of.ts';
import { type Break, caseName } from '../break.ts';
import {
  changesBetween,
  healthyPods,
  type SeenPod,
  type Snapshot,
  unannounced,
  unchanged,
} from './compare.ts';
import { checkNode, type ExamNode } from './exam-node.ts';
import { judgeAfterwards, judgeCheck, judgeDryRun, judgeRepair, repairOf } from './judge.ts';
import { CHECK_AGAIN_MS, RECOVER_MS, YOUNG_MS } from './limits.ts';
import { recoverArguments } from './recover-arguments.ts';
import type { CaseResult } from './result.ts';
import { STATE_FOLDER } from './snapshot.ts';

/** Called when a part of the case begins: "check". */
export type OnPart = (part: string) => void;

type Answers = Omit<
  CaseResult,
  'name' | 'kind' | 'about' | 'expected' | 'passed' | 'tookMs' | 'parts'
>;

export interface CaseRun extends CaseResult {
  /** The node is healed and has its initial state: the next case may begin. */
  readonly isAtRest: boolean;
}

/** Breaks, checks, repairs and heals the node, and verifies that nothing else changed. */
export async function runCase(
  asked: Break,
  node: ExamNode,
  atRest: () => Promise<Snapshot>,
  onPart: OnPart = () => {},
): Promise<CaseRun> {
  const clock = partClock(onPart);
  const begun = performance.now();
  // If no baseline was taken, everything on the node counts as left behind.
  let baseline: Snapshot = { lines: [], pods: [], hasServedMount: false };
  const answers = await orFailure(async () => {
    baseline = await clock.time('compare', atRest);
    return answersOf(asked, node, baseline, clock.time);
  });
  const left = await orFailure(() => healed(node, baseline, clock.time));
  const isAtRest = left.problems.length === 0 && left.sideEffects.length === 0;
  const all: Answers = {
    ...answers,
    sideEffects: [...answers.sideEffects, ...left.sideEffects],
    problems: [...answers.problems, ...left.problems],
  };
  const { kind, about, expected } = asked;
  const { verdict, state, repair } = expected;
  return {
    name: caseName(asked),
    kind,
    about,
    expected: defined({ verdict, state, repair }),
    ...all,
    passed: all.problems.length === 0 && all.sideEffects.length === 0,
    tookMs: Math.round(performance.now() - begun),
    parts: clock.parts,
    isAtRest,
  };
}

const NOTHING: Answers = {
  verdict: 'none',
  repair: 'none',
  verified: 'none',
  sideEffects: [],
  problems: [],
};

/** An error fails the case, and the exam continues. */
async function orFailure(action: () => Promise<Answers>): Promise<Answers> {
  try {
    return await action();
  } catch (error) {
    return { ...NOTHING, problems: [messageOf(error)] };
  }
}

type Time = <T>(part: string, action: () => Promise<T>) => Promise<T>;

function partClock(onPart: OnPart) {
  const parts: Record<string, number> = {};
  const time: Time = async (part, action) => {
    const begun = performance.now();
    onPart(part);
    try {
      return await action();
    } finally {
      parts[part] = Math.round((parts[part] ?? 0) + performance.now() - begun);
    }
  };
  return { time, parts };
}

async function answersOf(
  asked: Break,
  node: ExamNode,
  baseline: Snapshot,
  time: Time,
): Promise<Answers> {
  const { expected } = asked;
  await time('break', () => node.make(asked));
  // Wait until the snapshot includes new processes of the break: they do not come from the check.
  await sleep(Math.min(YOUNG_MS, node.settleMs));
  const broken = await time('compare', () => node.snapshot());
  const healthy = healthyPods(baseline, broken);

  const checked = await time('check', () => checkNode(node));
  const { verdict, state, problems } = judgeCheck(asked, checked, healthy);
  const ours = broken.hasServedMount ? READERS : [];
  const looked = await time('compare', () => compared(node, broken, { announced: ours, healthy }));

  const args = recoverArguments(asked, checked.report);
  const foreseen =
    expected.repair === 'none'
      ? undefined
      : await time('dry run', () => node.kubediag([...args, '--dry-run'], RECOVER_MS));
  const tried =
    foreseen &&
    (await time('compare', () => compared(node, looked.now, { announced: ours, healthy })));
  const ran = await time('repair', () => node.kubediag(args, RECOVER_MS));
  const recovered = { code: ran.code, text: `${ran.stdout}${ran.stderr}` };
  const isVerified = expected.repair !== 'none';
  const wrong = isVerified ? await time('verify', () => verified(asked, node)) : [];
  const { changes = [], must = [] } = expected;
  const announced = [...changes, ...must, ...ours, EVIDENCE];
  const repaired = await time('compare', () =>
    compared(node, looked.now, { announced, must, healthy }),
  );
  return defined({
    verdict,
    state,
    repair: repairOf(recovered),
    verified: isVerified ? (wrong.length === 0 ? 'yes' : 'no') : 'none',
    sideEffects: [
      ...looked.strange.map((line) => `${line} (by check)`),
      ...(tried?.strange ?? []).map((line) => `${line} (by the dry run)`),
      ...repaired.strange,
    ],
    problems: [
      ...problems,
      ...judgeRepair(asked, recovered),
      ...(foreseen ? judgeDryRun(foreseen, recovered) : []),
      ...wrong,
      ...repaired.missing.map((start) => `recover changed nothing that begins with "${start}"`),
      ...(expected.repair === 'done' && must.length === 0 ? [MUST_IS_MISSING] : []),
    ],
  });
}

/** A repair writes a journal and a bundle. */
const EVIDENCE = `+ file ${STATE_FOLDER}/`;

const MUST_IS_MISSING =
  'the break does not declare what its repair must change, so a false "done" would pass';

/** A reader process that waits for a silent server cannot be killed until the mount is gone. */
const READERS = ['+ process kubediag-reader', '- process kubediag-reader'];

/** The kubelet needs a moment after the repair, so the check is repeated for a while. */
async function verified(asked: Break, node: ExamNode): Promise<readonly string[]> {
  const check = async () => judgeAfterwards(asked, await checkNode(node));
  return settled(node, check, (wrong) => wrong.length === 0);
}

interface Terms {
  readonly announced: readonly string[];
  readonly must?: readonly string[];
  readonly healthy?: readonly SeenPod[];
}

/** The differences that remain after the kubelet had time to finish its work. */
function compared(node: ExamNode, before: Snapshot, { announced, must = [], healthy }: Terms) {
  const check = async () => {
    const now = await node.snapshot();
    const changes = changesBetween(before.lines, now.lines);
    const strange = unannounced(changes, announced, healthy);
    return { now, strange, missing: unchanged(changes, must) };
  };
  return settled(node, check, ({ strange, missing }) => strange.length + missing.length === 0);
}

/** Repeats a check until it passes, or until the node must have settled. */
async function settled<T>(
  { settleMs }: ExamNode,
  check: () => Promise<T>,
  isWell: (seen: T) => boolean,
): Promise<T> {
  const deadline = performance.now() + settleMs;
  for (;;) {
    const seen = await check();
    if (isWell(seen) || performance.now() > deadline) return seen;
    await sleep(CHECK_AGAIN_MS);
  }
}

async function healed(node: ExamNode, baseline: Snapshot, time: Time): Promise<Answers> {
  await time('heal', () => node.heal());
  const { strange } = await time('compare', () => compared(node, baseline, { announced: [] }));
  return { ...NOTHING, sideEffects: strange.map((line) => `${line} (left after healing)`) };
}
