import { runProgram } from '../../process/run.ts';
import { PLAIN_ENVIRONMENT, systemProgram } from '../../process/system-program.ts';
import { breaks } from '../breaks/index.ts';
import type { StandingLab } from '../known-labs.ts';
import { PLACES } from '../places.ts';
import { caseName } from './cases.ts';
import type { Snapshot } from './compare.ts';
import type { ExamNode, Ran } from './exam-node.ts';
import { DEED_MS, OUTPUT_BYTES_MAX, SETTLE_MS, SNAPSHOT_MS } from './limits.ts';

/** A practice node that stands, as the exam and the tour have it in their hands. */
export function labNode({ enter }: Pick<StandingLab, 'enter'>): ExamNode {
  const kubediag = (words: readonly string[], limitMs: number) =>
    ranThere(enter, [PLACES.executable, ...words], limitMs);
  const inside = async (words: readonly string[], limitMs: number) => {
    const { code, stdout, stderr } = await kubediag(['lab-part', 'inside', ...words], limitMs);
    if (code === 0) return stdout;
    throw new Error(stderr.trim() || `${words.join(' ')} ended with code ${code} on the node`);
  };
  return {
    settleMs: SETTLE_MS,
    kubediag,
    make: async (name) => {
      const found = breaks.find((each) => caseName(each) === name);
      if (!found) throw new Error(`there is no break ${name}`);
      await inside(['break', found.kind, found.fault, found.variant], DEED_MS);
    },
    heal: async () => void (await inside(['heal'], DEED_MS)),
    snapshot: async () => JSON.parse(await inside(['snapshot'], SNAPSHOT_MS)) as Snapshot,
  };
}

async function ranThere(
  [enter = '', ...more]: readonly string[],
  words: readonly string[],
  limitMs: number,
): Promise<Ran> {
  const result = await runProgram({
    program: systemProgram(enter) ?? enter,
    arguments: [...more, ...words],
    deadlineMs: limitMs,
    outputBytesMax: OUTPUT_BYTES_MAX,
    environment: PLAIN_ENVIRONMENT,
  });
  const told = words.slice(1).join(' ');
  if (result.ended === 'not-started')
    throw new Error(`${told} could not be started: ${result.why}`);
  if (result.ended === 'deadline') {
    throw new Error(`${told} did not end within ${limitMs / 1000} s`);
  }
  const { stdout, stderr } = result;
  if (result.ended === 'signal')
    throw new Error(`${told} was ended by ${result.signal}: ${stderr}`);
  return { code: result.code, stdout, stderr };
}
