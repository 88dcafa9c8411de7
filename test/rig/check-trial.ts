import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { childOf, killIfThere } from '../../src/lab/process-mark.ts';
import { eventually, processesOn } from './agent-on-node.ts';
import { makeHung } from './hung-volume.ts';
import type { PracticeNode } from './practice-node.ts';
import { mountLine } from './sick-node.ts';

const FAULT = 'dead-volume-mount';
const VOLUME = 'kubernetes.io~cephfs/data';
const READER = 'kubediag-reader';
const SIGKILL = 1n << 8n;

/** A node with a dead volume, on which every check has to leave its reader behind. */
export interface CheckTrial {
  readonly node: PracticeNode;
  readonly target: string;
}

export async function beginCheckTrial(): Promise<CheckTrial> {
  return makeHung(VOLUME, { loop: 'failing' });
}

/**
 * Ends a check with a signal after some time: then every reader of it has ended or was killed. False
 * when the check was faster.
 */
export async function killCheck(
  { node }: CheckTrial,
  { afterMs, signal = 'SIGKILL' }: { readonly afterMs: number; readonly signal?: NodeJS.Signals },
): Promise<boolean> {
  const { child, end } = node.start(['check', FAULT]);
  child.stdin?.end();
  const pid = await eventually('the process of the check', () => childOf(child.pid ?? 0));
  await sleep(afterMs);
  killIfThere(pid, signal);
  const ended = await end;
  expect([signal, null]).toContain(ended.signal);
  await eventually('the end of its readers', () => expect(readersAtWork(node)).toEqual([]));
  return ended.signal === signal;
}

/** The next recovery is not refused, and leaves nothing of ours. */
export async function endCheckTrial({ node, target }: CheckTrial): Promise<void> {
  const ended = await node.kubediag('recover', FAULT, '--yes');
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(mountLine(node, target)).toBeUndefined();
  await eventually('the end of all readers', () => expect(readersOn(node)).toEqual([]));
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

function readersOn(node: PracticeNode): readonly number[] {
  // One that has ended and was not reaped yet has no status of signals to speak of.
  return processesOn(node).filter(
    (pid) =>
      textOf(`/proc/${pid}/comm`).trim() === READER &&
      !/\) [ZX] /.test(textOf(`/proc/${pid}/stat`)),
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // It has ended meanwhile.
  }
}
