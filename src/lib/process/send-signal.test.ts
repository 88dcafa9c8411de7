import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startTimeOf } from '../std/start-time-of.ts';
import { sendSignal } from './send-signal.ts';

test('a signal reaches the process with this start time, and no other with its PID', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const exit = once(child, 'exit');
  const pid = child.pid ?? 0;
  const startTime = startTimeOf(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? 0;
  expect(sendSignal({ pid, startTime: String(startTime - 1) }, 'SIGUSR1')).toContain('another one');
  expect(child.signalCode).toBeNull();
  expect(sendSignal({ pid, startTime: String(startTime) }, 'SIGUSR1')).toBeUndefined();
  expect(await exit).toEqual([null, 'SIGUSR1']);
  expect(sendSignal({ pid, startTime: String(startTime) }, 'SIGUSR1')).toContain('no such file');
});
