import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Break, caseName, type NamedBreak } from './break.ts';
import { chooseTogether, type RequestedBreak } from './breaks/choose-together.ts';
import { breaks } from './breaks/index.ts';
import { versionWith } from './breaks/kubelet-habits.ts';
import { PLACES } from './places.ts';
import type { PracticeNode } from './practice-node.ts';

/** Breaks the node, in addition to earlier breaks. Returns the names of the cases. */
export async function makeBreaks(
  node: PracticeNode,
  asked: readonly RequestedBreak[],
): Promise<readonly string[]> {
  const made = appliedBreaks(breaks);
  const chosen = chooseTogether(breaks, asked, { made, settings: node.settings });
  await changeKubelet(node, [...made, ...chosen]);
  for (const each of chosen) {
    markBroken(each);
    await each.make(node);
  }
  return chosen.map(caseName);
}

/** Before the first break: a kubelet of another version would repair it. */
async function changeKubelet(node: PracticeNode, all: readonly Break[]): Promise<void> {
  const { kubelet } = node.settings;
  if (kubelet.kind === 'real') return;
  const habits = all.flatMap((each) => each.kubelet ?? []);
  const version = versionWith(habits, kubelet.version);
  if (version === undefined) return;
  node.configureKubelet({ version });
  await node.until(
    `the kubelet goes by the habits of ${version}`,
    () => readFileSync(PLACES.kubeletIteration, 'utf8') === version,
  );
}

/** A file on the node that lists its breaks; `lab heal` deletes it. */
const MARK = join(PLACES.lab, 'broken');

/** The breaks since the node was created or healed, oldest first. */
export function appliedBreaks<T extends NamedBreak>(all: readonly T[], mark = MARK): readonly T[] {
  const names = existsSync(mark) ? readFileSync(mark, 'utf8').trimEnd().split('\n') : [];
  return names.flatMap((name) => all.find((each) => caseName(each) === name) ?? []);
}

/** Written before the break is made. */
export function markBroken(asked: NamedBreak, mark = MARK): void {
  writeFileSync(mark, `${caseName(asked)}\n`, { flag: 'a' });
}
