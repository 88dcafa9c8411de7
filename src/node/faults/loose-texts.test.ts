import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LABELLED_TEXTS } from '../../../test/labelled-texts.ts';
import { type Judged, judgeFaults } from '../checkup/judge-faults.ts';
import { caseFileOf, givenSnapshot } from '../examine/case-file.ts';
import type { GivenFile } from '../examine/part.ts';
import { faults } from './index.ts';

const TESTS = join(import.meta.dirname, '../../../test');
const FOLDER = join(TESTS, 'loose-texts');
const NOW = new Date('2026-05-02T12:00:00Z');

/** Texts that say more together than each of them alone. */
const TOGETHER = [
  'mountinfo-with-stale-line.txt pod-refused.yaml',
  'mountinfo-with-stale-line.txt pod-described.txt',
  'mountinfo-with-stale-line.txt events.json',
  'mountinfo-with-stale-line.txt pod-running.yaml',
  'mountinfo-with-stale-line.txt pod-running.yaml version-old.txt',
  'mountinfo-with-stale-line.txt refused-missing-source.txt',
  'mountinfo-of-a-container.txt events.json',
  'container-list.json container-without-log-path.json',
  'bin-gone.txt journal-export.txt',
  'bin-gone.txt bpftrace.txt',
  'bin-gone.txt strace.txt',
  'dump-without-times.txt healthz-failing.txt',
  'dump-without-times.txt healthz-well.txt',
  'dump-without-loop.txt healthz-failing.txt',
];

test('what each loose text shows, and in which words', async () => {
  const files = readdirSync(FOLDER).toSorted();
  const answers: Record<string, unknown> = {};
  for (const names of [...files, ...TOGETHER]) {
    answers[names] = await answerOn(names.split(' ').map(readText));
  }
  for (const { what, text } of LABELLED_TEXTS) {
    answers[what] = await answerOn([{ name: 'given.txt', text }]);
  }
  const golden = `${JSON.stringify(answers, null, 2)}\n`;
  await expect(golden).toMatchFileSnapshot(join(TESTS, 'loose-texts.golden.json'));
});

function readText(name: string): GivenFile {
  return { name, text: readFileSync(join(FOLDER, name), 'utf8') };
}

/** What the faults say of texts, without the evidence that nobody sent. */
async function answerOn(files: readonly GivenFile[]): Promise<Record<string, unknown>> {
  const file = await caseFileOf(files, NOW, faults);
  const judged = await judgeFaults(faults, givenSnapshot(file));
  const answers = judged.map((each) => [each.fault.id, answerOf(each, file.suspicions)] as const);
  return Object.fromEntries(answers.filter(([, answer]) => Object.keys(answer).length > 0));
}

function answerOf({ fault, verdict }: Judged, suspicions: ReadonlyMap<string, string>) {
  const suspicion = suspicions.get(fault.id);
  const unknowns = verdict.unknowns
    .filter(({ failure }) => failure !== 'not-recorded')
    .map(({ why }) => why);
  const findings = verdict.findings.map(({ state, reason, subject, summary, proof }) => ({
    state,
    reason,
    subject,
    summary,
    proof: proof.map(({ claim }) => claim),
  }));
  return {
    ...(findings.length > 0 ? { findings } : {}),
    ...(unknowns.length > 0 ? { unknowns } : {}),
    ...(suspicion === undefined ? {} : { suspicion }),
  };
}
