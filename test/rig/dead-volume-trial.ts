import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { readJournal } from '../../src/node/repair/journal.ts';
import { eventually, processesOn } from './agent-on-node.ts';
import { mountLine } from './faulty-node.ts';
import { type HungNode, hang, makeHung } from './hung-volume.ts';
import { type Blow, killRunning } from './kill-running.ts';
import type { PracticeNode } from './practice-node.ts';

const FAULT = 'dead-volume-mount';
const VOLUME = 'kubernetes.io~cephfs/data';
const RESPONSES = { loop: 'failing' } as const;
const READER = 'kubediag-reader';
const SIGKILL = 1n << 8n;

/** A node with a dead volume, on which every check has to leave its reader behind. */
export interface DeadVolumeTrial extends HungNode {
  timesHung: number;
}

export async function beginDeadVolumeTrial(): Promise<DeadVolumeTrial> {
  return { ...(await makeHung(VOLUME, RESPONSES)), timesHung: 1 };
}

/** Kills a command; then every reader of it has ended or was killed. Returns whether it was in time. */
export async function killOn(
  trial: DeadVolumeTrial,
  command: 'check' | 'recover',
  blow: Blow,
): Promise<boolean> {
  const { node, target } = trial;
  if (mountLine(node, target) === undefined) {
    await hang(trial, RESPONSES);
    trial.timesHung += 1;
  }
  const text = command === 'check' ? ['check', FAULT] : ['recover', FAULT, '--yes'];
  const { isInTime } = await killRunning(node.start(text), blow);
  await eventually('the end of its readers', () => expect(readersAtWork(node)).toEqual([]));
  return isInTime;
}

/** Nothing is left that blocks the next recovery, and each was done once. */
export async function expectRecovery(trial: DeadVolumeTrial): Promise<void> {
  const { node, target, timesHung } = trial;
  // A recovery that was killed may have left its umount under way.
  await eventually('a recovery that is not refused', async () => {
    const ended = await node.kubediag('recover', FAULT, '--yes');
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  });
  expect(mountLine(node, target)).toBeUndefined();
  await eventually('the end of all readers', () => expect(readersOn(node)).toEqual([]));
  const { records, unfinished, errors } = readJournal(node.stateFolder);
  expect({ unfinished, errors }).toEqual({ unfinished: [], errors: [] });
  const outcomes = records.flatMap(({ outcome }) => outcome?.state ?? []);
  expect(outcomes.filter((state) => state !== 'no-effect')).toEqual(
    Array.from({ length: timesHung }, () => 'done'),
  );
}

/** Readers that could still do something: the kernel lets those that were killed only end. */
function readersAtWork(node: PracticeNode): readonly number[] {
  return readersOn(node).filter((pid) => {
    const status = textOf(`/proc/${pid}/status`);
    // SigPnd:	0000000000000100
    const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):\t([0-9a-f]+)$/gm)];
    return status !== '' && !pending.some(([, bits]) => BigInt(`0x${bits}`) & SIGKILL);
  });
}

/** Without those that have ended and were not reaped yet. */
function readersOn(node: PracticeNode): readonly number[] {
  // 812 (kubediag-reader) D 1 812
  return processesOn(node).filter((pid) => {
    const [, name, state] = /\((.*)\) (\S)/.exec(textOf(`/proc/${pid}/stat`)) ?? [];
    return name === READER && state !== 'Z' && state !== 'X';
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // It has ended meanwhile.
  }
}
