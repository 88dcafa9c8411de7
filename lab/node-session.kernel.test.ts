import { readFileSync, readlinkSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { messageOf } from '../src/lib/std/message-of.ts';
import { lab } from '../test/rig/lab-traces.ts';
import { EXECUTABLE, startProgram } from '../test/rig/run-kubediag.ts';
import { runningLab } from './enter.ts';
import type { Snapshot } from './exam/compare.ts';
import type { RunningLab } from './known-labs.ts';
import { type NodeSession, openSession } from './node-session.ts';
import { PLACES } from './places.ts';
import { allProcesses, hasEnded, killIfThere } from './process-mark.ts';
import { unlessGone } from './unless-gone.ts';

const NAME = `session-${process.pid}`;
const LIMIT_MS = 60_000;
const SOON = { timeout: 20_000 };
const VARIANT = 'configmap-latent';
const BREAK = ['break', 'fault', 'stale-subpath-mount', VARIANT];

let standing: RunningLab;
let session: NodeSession;

const request = (...args: readonly string[]) => session.request(args, LIMIT_MS);

/** The PIDs, on the machine, of processes of the practice node with exactly these arguments. */
const partsOf = async (...args: readonly string[]) => {
  const line = [PLACES.executable, 'lab-part', ...args, ''].join('\0');
  return allProcesses().filter((pid) =>
    unlessGone(
      () =>
        readFileSync(`/proc/${pid}/cmdline`, 'utf8') === line &&
        readlinkSync(`/proc/${pid}/ns/mnt`) === standing.settings.mountNamespace,
    ),
  );
};
const sessions = () => partsOf('inside', 'session');

beforeAll(async () => {
  await lab('up', NAME, '--runtime', 'stand-in');
  standing = await runningLab(NAME);
});
beforeEach(() => {
  session = openSession(standing);
});
afterEach(() => session.close());
afterAll(async () => {
  await lab('down', NAME);
});

test('one process answers all requests, and a refused break with the reason', async () => {
  expect(await sessions()).toEqual([]);
  expect(((await request('snapshot')) as Snapshot).lines).not.toContainEqual(
    expect.stringContaining('inside session'),
  );
  const [pid, ...others] = await sessions();
  expect(others).toEqual([]);
  await expect(request('break', 'fault', 'none', 'x')).rejects.toThrow(
    /^there is no fault none x$/,
  );
  await expect(request('dance')).rejects.toThrow('no such command on a practice node: "dance"');
  await request(...BREAK);
  await expect(request(...BREAK)).rejects.toThrow(
    /^it has stale-subpath-mount \(configmap-latent\) already, and all variants use the same pods$/,
  );
  await request('heal');
  await request(...BREAK);
  await request('heal');
  expect(await sessions()).toEqual([pid]);
});

test('a process that a request starts outlives the session, and is reaped if it exits first', async () => {
  await request('heal');
  const before = await partsOf('runtime');
  await request('heal');
  const [runtime] = await partsOf('runtime');
  expect(before).not.toContain(runtime);
  const [pid = 0] = await sessions();
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  expect(children).toContain(String(runtime));
  expect(children.filter((each) => hasEnded(readFileSync(`/proc/${each}/stat`, 'utf8')))).toEqual(
    [],
  );
  session.close();
  await expect.poll(sessions, SOON).toEqual([]);
  expect(await partsOf('runtime')).toEqual([runtime]);
});

test('a request is killed after its timeout, and the next request gets a new process', async () => {
  await request('snapshot');
  const [before] = await sessions();
  const [runtime = 0] = await partsOf('runtime');
  killIfThere(runtime, 'SIGSTOP');
  const late = session.request(['snapshot'], 500);
  await expect(late).rejects.toThrow(
    /^\/usr\/local\/bin\/kubediag lab-part inside snapshot: timed out after 0.5s$/,
  );
  await expect.poll(sessions, SOON).toEqual([]);
  killIfThere(runtime, 'SIGCONT');
  expect(((await request('snapshot')) as Snapshot).lines).toContainEqual(
    expect.stringMatching(/^pod practice\//),
  );
  expect(await sessions()).not.toContain(before);
});

test('a killed session fails its request, and the next request gets a new process', async () => {
  await request('snapshot');
  const [runtime = 0] = await partsOf('runtime');
  killIfThere(runtime, 'SIGSTOP');
  const failure = request('snapshot').then(() => 'none', messageOf);
  for (const pid of await sessions()) killIfThere(pid);
  expect(await failure).toMatch(/ inside snapshot: it ended with /);
  killIfThere(runtime, 'SIGCONT');
  await request('snapshot');
});

test('the session of a killed exam ends too', async () => {
  const name = `stale-subpath-mount/${VARIANT}`;
  const exam = startProgram([EXECUTABLE, 'lab', 'exam', name, '--name', NAME]);
  await expect.poll(sessions, SOON).toHaveLength(1);
  exam.child.kill('SIGKILL');
  await exam.end;
  await expect.poll(sessions, SOON).toEqual([]);
  await request('heal');
});
