import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agentAt, socketPath, step } from '../../../test/synthetic-channel.ts';

/** Starts a process that imports this module, and kills it after the test. */
function start(script: string, ...args: string[]): ChildProcess {
  const path = join(import.meta.dirname, '../../../test/rig', script);
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function emptyLog(path: string): () => readonly string[] {
  writeFileSync(path, '');
  return () => readFileSync(path, 'utf8').trim().split('\n');
}

test('an executor that is killed in the middle of a step does it again when it is back', async () => {
  const path = socketPath();
  const log = emptyLog(`${path}.log`);
  const agent = await agentAt(path);
  const killed = start('channel-executor.ts', path, `${path}.log`, '600000');
  const running = agent.runStep(step({ purpose: 'some/1' }));
  await expect.poll(log).toEqual(['begun some/1']);
  killed.kill('SIGKILL');
  const next = start('channel-executor.ts', path, `${path}.log`, '0');
  expect(await running).toEqual({ succeeded: true, results: { by: String(next.pid) } });
  expect(log()).toEqual(['begun some/1', 'begun some/1']);
});

test('an agent that is killed in the middle of a step gets its result when it asks again', async () => {
  const path = socketPath();
  const log = emptyLog(`${path}.log`);
  const executor = start('channel-executor.ts', path, `${path}.log`, '3000');
  const killed = start('channel-agent.ts', path);
  await expect.poll(log).toEqual(['begun some/1']);
  killed.kill('SIGKILL');
  await expect.poll(log).toEqual(['begun some/1', 'stopped some/1']);
  const next = start('channel-agent.ts', path);
  let printed = '';
  next.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await expect.poll(() => printed).not.toBe('');
  expect(JSON.parse(printed)).toEqual({ succeeded: true, results: { by: String(executor.pid) } });
});
