import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../../test/rig/private-namespaces.ts';
import type { QuickTrial } from '../../../test/rig/quick-answers.ts';
import { startCompanion } from '../../lib/process/companion.ts';
import type { QuickQuestion } from '../model/quick-reader.ts';
import { LiveQuickReader } from './live-quick-reader.ts';

const rig = (name: string) => join(import.meta.dirname, '../../../test/rig', name);
const scratch = mkdtempSync(join(tmpdir(), 'kubediag-quick-'));
const pods = join(scratch, 'po*ds "$(x)"');
const at = (path: string) => join(pods, path);
const LEFTOVERS = { folder: pods, pattern: '*/volumes/*/*.deleting~*' };
const NOTHING: QuickQuestion = { names: [], files: [], logs: [] };
let namespaces: PrivateNamespaces;

beforeAll(async () => {
  for (const path of ['u1/volumes/p/a', 'u1/volumes/p/a.deleting~1', 'u2/volumes/q/b', 'u2/etc']) {
    mkdirSync(at(path), { recursive: true });
  }
  namespaces = await makePrivateNamespaces();
});

afterAll(async () => {
  await namespaces.stop();
  rmSync(scratch, { recursive: true });
});

function openReader(): LiveQuickReader {
  const quick = new LiveQuickReader('/');
  onTestFinished(() => quick.close());
  return quick;
}

test('names that match, also below a directory whose name is a pattern', async () => {
  const quick = openReader();
  const names = async () => (await quick.ask({ ...NOTHING, names: [LEFTOVERS] }))?.names;
  expect(await names()).toEqual([`${at('u1/volumes/p/a.deleting~1')}\n`]);
  mkdirSync(at('u2/volumes/q/b.deleting~2'));
  expect(await names()).toEqual([
    `${at('u1/volumes/p/a.deleting~1')}\n${at('u2/volumes/q/b.deleting~2')}\n`,
  ]);
  rmSync(at('u2/volumes/q/b.deleting~2'), { recursive: true });
});

test('files, one that is missing, and numbers of the kernel', async () => {
  const [conf, short] = [join(scratch, 'resolv.conf'), join(scratch, 'without-newline')];
  writeFileSync(conf, 'nameserver 192.0.2.1\n# \\n $(x)\n\u001E1.0\n');
  writeFileSync(short, 'last');
  const files = [join(scratch, 'none'), conf, short, '/proc/sys/kernel/ostype'];
  expect((await openReader().ask({ ...NOTHING, files }))?.files).toEqual([
    '',
    'nameserver 192.0.2.1\n# \\n $(x)\n\u001E1.0\n',
    'last\n',
    'Linux\n',
  ]);
});

test('the end of a log, also of one that is longer than a number of 32 bits', async () => {
  const log = join(scratch, 'kubelet.log');
  writeFileSync(log, 'first\n');
  const quick = openReader();
  const end = async (lastBytes: number) =>
    (await quick.ask({ ...NOTHING, logs: [{ path: log, lastBytes }] }))?.logs[0];
  expect(await end(100)).toBe('first\n');
  appendFileSync(log, 'second\n');
  expect(await end(7)).toBe('second\n');
  truncateSync(log, 5 * 1024 ** 3);
  appendFileSync(log, 'third\n');
  expect(await end(6)).toBe('third\n');
  rmSync(log);
  expect(await end(6)).toBe('');
});

test('a file that is not read to its end in time ends the shell', async () => {
  const fifo = join(scratch, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const quick = openReader();
  expect(await quick.ask({ ...NOTHING, files: [fifo] })).toBeUndefined();
  // The next one would hang too.
  expect(await quick.ask({ ...NOTHING, files: [] })).toEqual({ names: [], files: [], logs: [] });
  expect(await quick.ask({ ...NOTHING, names: [LEFTOVERS] })).toBeUndefined();
});

test('without a request in flight, a closed reader answers nothing', async () => {
  const quick = openReader();
  quick.close();
  expect(await quick.ask({ ...NOTHING, names: [LEFTOVERS] })).toBeUndefined();
});

async function trialOf(question: QuickQuestion, times: number): Promise<QuickTrial> {
  const words = [process.execPath, rig('quick-answers.ts'), JSON.stringify(question), `${times}`];
  const [program = '', ...args] = [...namespaces.enter, ...words];
  const { stdout } = await promisify(execFile)(program, args);
  return JSON.parse(stdout) as QuickTrial;
}

test('dead mounts: the names beside them are read, and a path on one costs one process', async () => {
  const [volume, plugin] = [at('u3/volumes/p/dead'), at('u4/volumes/dead')];
  for (const target of [volume, plugin]) mkdirSync(target, { recursive: true });
  const serve = async (target: string) => {
    const words = [...namespaces.enter, process.execPath, rig('hung-fuse.ts'), target];
    const server = spawn(words[0] ?? '', words.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void server.kill('SIGKILL'));
    if (server.stdout) await once(server.stdout, 'data');
  };
  await serve(volume);
  const asked = { ...NOTHING, names: [LEFTOVERS] };
  const names = [`${at('u1/volumes/p/a.deleting~1')}\n`];
  expect(await trialOf(asked, 1)).toMatchObject({ answers: [{ names }] });
  await serve(plugin);
  const { answers, left } = await trialOf(asked, 3);
  expect(answers).toEqual([null, null, null]);
  expect(left.length).toBeLessThanOrEqual(1);
});

test('what a killed shell has started counts until it is gone', async () => {
  const started = startCompanion(
    { program: '/bin/sh', arguments: ['-c', 'sleep 0.3 & echo ready'] },
    { onOutput: () => {}, onEnd: () => {} },
  );
  await expect.poll(() => existsSync(`/proc/${started.pid}`)).toBe(false);
  expect(started.isGone()).toBe(false);
  await expect.poll(() => started.isGone()).toBe(true);
});
