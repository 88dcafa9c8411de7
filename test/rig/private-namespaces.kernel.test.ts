import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { childOf } from '../../lab/process-mark.ts';
import { endNamespaces, makePrivateNamespaces } from './private-namespaces.ts';

const HUNG_FUSE = join(import.meta.dirname, 'hung-fuse.ts');
/** By then the server has taken the question, and nothing but its end can free who asked. */
const TAKEN_MS = 300;

it('says which process does not end, and ends once it is freed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubediag-namespaces-'));
  const namespaces = await makePrivateNamespaces();
  const { pid, enter } = namespaces;
  // The server sees their mounts but is none of their processes: it does not end with them.
  const text = ['--target', String(pid), '--mount', '--', process.execPath, HUNG_FUSE, folder];
  const server = spawn('nsenter', text, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(server.stdout, 'data');
    const waiting = spawn('env', [...enter, 'stat', join(folder, 'x')], { stdio: 'ignore' });
    const program = async () => readFile(`/proc/${await childOf(waiting.pid ?? 0)}/comm`, 'utf8');
    await expect.poll(() => program().catch(() => '')).toBe('stat\n');
    await sleep(TAKEN_MS);
    const stat = await childOf(waiting.pid ?? 0);

    await expect(endNamespaces(pid, 500)).rejects.toThrow(
      `processes do not end: ${stat} (stat ${folder}/x). They were killed, but wait`,
    );
    server.kill('SIGKILL');
    await endNamespaces(pid);
  } finally {
    server.kill('SIGKILL');
    await namespaces.stop();
    await rm(folder, { recursive: true });
  }
});
