import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lab } from '../test/rig/lab-traces.ts';
import { EXECUTABLE, oneLine, runProgram, startProgram } from '../test/rig/run-kubediag.ts';
import { stateOf } from './known-labs.ts';
import { stoppedParts } from './stopped-parts.ts';

const NAME = `heal${process.pid}`;
/** A timeout for a busy machine; a test usually ends earlier. */
const SOON = { timeout: 20_000, interval: 1 };

beforeAll(async () => {
  await lab('up', NAME, '--runtime', 'stand-in');
});

afterAll(async () => {
  await lab('down', NAME);
});

async function stoppedNow() {
  const state = await stateOf(NAME);
  if (state.is !== 'up') throw new Error(`${NAME} is ${state.is}`);
  return stoppedParts(state.lab);
}

function healing() {
  return startProgram([EXECUTABLE, 'lab', 'heal', '--name', NAME]);
}

function check() {
  return lab('run', NAME, '--', 'kubediag', 'check');
}

describe('an interrupted heal', () => {
  test.each([
    ['SIGINT', 0],
    ['SIGTERM', 50],
    ['SIGINT', 250],
    ['SIGHUP', 600],
  ] as const)('by %s after %i ms of its work is finished first', async (signal, ms) => {
    const { child, end } = healing();
    // The first change of heal: it stops the kubelet.
    await expect.poll(stoppedNow, SOON).toContain('kubelet');
    await sleep(ms);
    child.kill(signal);
    expect(await end).toMatchObject({ code: 0 });
    expect(await stoppedNow()).toEqual([]);
    expect(await check()).toMatchObject({ code: 0 });
  });
});

test('after a killed heal, list shows the stopped daemons, and the next heal starts them', async () => {
  const { child, end } = healing();
  await expect.poll(stoppedNow, SOON).toEqual(['kubelet', 'runtime']);
  child.kill('SIGKILL');
  await end;
  await expect.poll(stoppedNow, SOON).not.toEqual([]);
  const { stdout } = await runProgram([EXECUTABLE, 'lab', 'list']);
  expect(stdout).toMatch(new RegExp(`^${NAME} +is up, but its kubelet`, 'm'));
  expect(stdout).toContain(`kubediag lab heal --name ${NAME}`);
  const broken = await lab('break', NAME, 'stale-subpath-mount');
  expect(broken.code).toBe(3);
  expect(oneLine(broken.stderr)).toContain('stopped do heal it first: kubediag lab heal');
  const healed = await lab('heal', NAME);
  expect(healed.code).toBe(0);
  expect(healed.stdout).toMatch(new RegExp(`^practice node ${NAME}: its kubelet.* stopped$`, 'm'));
  expect(await stoppedNow()).toEqual([]);
  expect(await check()).toMatchObject({ code: 0 });
});

test('a node that cannot be healed still has its kubelet and its runtime', async () => {
  await lab('run', NAME, '--', 'mount', '--bind', '/tmp', '/mnt');
  await lab('run', NAME, '--', 'umount', '--lazy', '/etc/kubernetes');
  const refused = await lab('heal', NAME);
  expect(refused.code).toBe(3);
  expect(oneLine(refused.stderr)).toContain('(-/etc/kubernetes)');
  expect(await stoppedNow()).toEqual([]);
  await lab('down', NAME);
  await lab('up', NAME, '--runtime', 'stand-in');
});

test('an agent still runs after a heal, with the same token, which no output shows', async () => {
  const args = ['lab', 'serve', '--name', NAME, '--listen', '127.0.0.1:0'];
  const serving = startProgram([EXECUTABLE, ...args]);
  await serving.hasSaid('Press Ctrl-C');
  const [, url = ''] = /listens on (\S+)$/m.exec(serving.said()) ?? [];
  const [, file = ''] = /^ {2}token +in (\S+),/m.exec(serving.said()) ?? [];
  const token = readFileSync(file, 'utf8').trim();
  const list = `${url}/apis/diagnosis.kubediag.org/v1/diagnoses`;
  const ask = async () =>
    (await fetch(list, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await ask()).toBe(200);
  expect(await lab('break', NAME, 'stale-subpath-mount')).toMatchObject({ code: 0 });
  const healed = await lab('heal', NAME);
  expect(healed).toMatchObject({ code: 0, stderr: '' });
  expect(healed.stdout).toMatch(
    /^The agent .* still runs; its directory \/var\/lib\/kubediag was not touched/m,
  );
  expect(readFileSync(file, 'utf8').trim()).toBe(token);
  expect(await ask()).toBe(200);
  expect(await check()).toMatchObject({ code: 0 });
  serving.child.kill('SIGINT');
  const ended = await serving.end;
  expect(ended).toMatchObject({ code: 0 });
  for (const { stdout, stderr } of [ended, healed]) expect(stdout + stderr).not.toContain(token);
});

test('the error for a killed agent does not show its output about the token', async () => {
  const args = ['lab', 'serve', '--name', NAME, '--listen', '127.0.0.1:0'];
  const serving = startProgram([EXECUTABLE, ...args]);
  await serving.hasSaid('Press Ctrl-C');
  await lab('run', NAME, '--', 'sh', '-c', 'kill -9 $(pgrep -f "kubediag serve --listen")');
  const { code, stderr } = await serving.end;
  expect(code).toBe(3);
  expect(oneLine(stderr)).toContain('has stopped why its process has ended');
  expect(stderr).not.toContain('token');
});
