import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makePrivateNamespaces } from '../test/rig/private-namespaces.ts';
import { runOnNode } from './enter.ts';
import { openNodeEntry } from './node-entry.ts';
import { markOf, type ProcessMark } from './process-mark.ts';

const RUN_MS = 20_000;

async function withFirst(use: (first: ProcessMark, stop: () => Promise<void>) => Promise<void>) {
  const namespaces = await makePrivateNamespaces({ also: ['net', 'uts'] });
  try {
    const first = markOf(namespaces.pid);
    if (first === undefined) throw new Error('it is gone');
    await use(first, () => namespaces.stop());
  } finally {
    await namespaces.stop();
  }
}

test('enters all namespaces of the first process', async () => {
  await withFirst(async (first) => {
    const kinds = ['mnt', 'pid', 'net', 'uts'];
    const files = kinds.map((kind) => `/proc/self/ns/${kind}`);
    const { stdout } = await runOnNode(first, ['readlink', ...files], RUN_MS);
    const theirs = kinds.map((kind) => readlinkSync(`/proc/${first.pid}/ns/${kind}`));
    expect(stdout.trimEnd().split('\n')).toEqual(theirs);
  });
});

test('does not enter another process that reuses the PID', async () => {
  await withFirst(async ({ pid, startTime }) => {
    const earlier = { pid, startTime: startTime - 1 };
    await expect(runOnNode(earlier, ['true'], RUN_MS)).rejects.toThrow('it has ended meanwhile');
  });
});

test('fails once the process is gone, also if its PID is reused', async () => {
  await withFirst(async (first, stop) => {
    const { program, into, close } = openNodeEntry(first);
    await stop();
    const [code] = await once(spawn(program, [...into, 'true'], { stdio: 'ignore' }), 'exit');
    close();
    expect(code).toBe(1);
  });
});
