import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../std/message-of.ts';
import type { Break } from '../break.ts';
import { caseName } from './cases.ts';
import { changesBetween, type Snapshot, unannounced } from './compare.ts';
import type { ExamNode } from './exam-node.ts';
import { type Checked, judgeAfterwards, judgeCheck, repairOf } from './judge.ts';
import { CHECK_MS, LOOK_AGAIN_MS, RECOVER_MS } from './limits.ts';
import { recoverWords } from './recover-words.ts';
import type { CaseResult } from './result.ts';

/** Told what is done at the moment: "check". */
export type OnPart = (part: string) => void;

type Answers = Omit<
  CaseResult,
  'name' | 'kind' | 'about' | 'expected' | 'passed' | 'tookMs' | 'parts'
>;

export interface SatCase extends CaseResult {
  /** Healed, and as it was before: the next case may begin. */
  readonly isAtRest: boolean;
}

/** Breaks the node, has it checked and repaired, heals it; and looks that nothing else changed. */
export async function sitCase(
  asked: Break,
  node: ExamNode,
  atRest: () => Promise<Snapshot>,
  onPart: OnPart = () => {},
): Promise<SatCase> {
  const clock = partClock(onPart);
  const begun = performance.now();
  let baseline: Snapshot | undefined;
  const answers = await orFailure(async () => {
    baseline = await clock.time('compare', atRest);
    return answersOf(asked, node, clock.time);
  });
  const left = await orFailure(() => healed(node, baseline ?? [], clock.time));
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
    expected: { verdict, ...(state === undefined ? {} : { state }), repair },
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

/** What throws is a failed case, with its words; the exam goes on. */
async function orFailure(deed: () => Promise<Answers>): Promise<Answers> {
  try {
    return await deed();
  } catch (error) {
    return { ...NOTHING, problems: [messageOf(error)] };
  }
}

type Time = <T>(part: string, deed: () => Promise<T>) => Promise<T>;

function partClock(onPart: OnPart): {
  readonly time: Time;
  readonly parts: Record<string, number>;
} {
  const parts: Record<string, number> = {};
  const time: Time = async (part, deed) => {
    const begun = performance.now();
    onPart(part);
    try {
      return await deed();
    } finally {
      parts[part] = Math.round((parts[part] ?? 0) + performance.now() - begun);
    }
  };
  return { time, parts };
}

async function answersOf(asked: Break, node: ExamNode, time: Time): Promise<Answers> {
  await time('break', () => node.make(caseName(asked)));
  const checked = await time('check', () => check(node));
  const seen = judgeCheck(asked, checked);
  const { verdict, state, problems } = seen;
  const found: Answers = {
    ...NOTHING,
    verdict,
    problems,
    ...(state === undefined ? {} : { state }),
  };
  if (asked.expected.repair === 'none') return found;

  const before = await time('compare', () => node.snapshot());
  const words = recoverWords(asked, checked.report);
  const ran = await time('repair', () => node.kubediag(words, RECOVER_MS));
  const text = `${ran.stdout}${ran.stderr}`;
  const repair = repairOf({ code: ran.code, text });
  const wrong = await time('verify', () => verified(asked, node));
  const sideEffects = await time('compare', () =>
    changesLeft(node, before, asked.expected.changes ?? []),
  );
  const repairProblems =
    repair === asked.expected.repair
      ? []
      : [`recover is ${repair}, and should be ${asked.expected.repair}: ${text.trim()}`];
  return {
    ...found,
    repair,
    verified: wrong.length === 0 ? 'yes' : 'no',
    sideEffects,
    problems: [...problems, ...repairProblems, ...wrong],
  };
}

async function check(node: ExamNode): Promise<Checked> {
  const { code, stdout, stderr } = await node.kubediag(['check', '-o', 'json'], CHECK_MS);
  if (!stdout.startsWith('{')) throw new Error(`check gave no report: ${stdout}${stderr}`.trim());
  return { code, report: JSON.parse(stdout) as unknown };
}

/** A kubelet needs a moment to go on from where it was freed, so a repair may show a little later. */
async function verified(asked: Break, node: ExamNode): Promise<readonly string[]> {
  const look = async () => judgeAfterwards(asked, await check(node));
  return settled(node, look);
}

/** What is different from before and stays so: a kubelet that is just at work is given time to end. */
function changesLeft(node: ExamNode, before: Snapshot, announced: readonly string[]) {
  return settled(node, async () =>
    unannounced(changesBetween(before, await node.snapshot()), announced),
  );
}

async function settled(
  { settleMs }: ExamNode,
  look: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const deadline = performance.now() + settleMs;
  for (;;) {
    const wrong = await look();
    if (wrong.length === 0 || performance.now() > deadline) return wrong;
    await sleep(LOOK_AGAIN_MS);
  }
}

async function healed(node: ExamNode, baseline: Snapshot, time: Time): Promise<Answers> {
  await time('heal', () => node.heal());
  const left = await time('compare', () => changesLeft(node, baseline, []));
  return { ...NOTHING, sideEffects: left.map((line) => `${line} (left after healing)`) };
}
