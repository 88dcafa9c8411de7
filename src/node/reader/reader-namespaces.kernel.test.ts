import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../../test/rig/private-namespaces.ts';
import { EXECUTABLE, reportOf, runProgram } from '../../../test/rig/run-kubediag.ts';

const host = mkdtempSync(join(tmpdir(), 'kubediag-host-'));
let namespaces: PrivateNamespaces;

/** Its network and host name are its own, and it sees the root of the node elsewhere. */
const AS_POD = ['unshare', '--mount', '--net', '--uts', '--cgroup', 'sh', '-c'];
const SCRIPT = `mount --rbind / ${host} && hostname in-a-pod && exec "$@"`;
const WITHOUT_SYS_ADMIN = ['setpriv', '--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'];

async function check(...before: readonly string[]) {
  const root = before.length === 0 ? [] : ['--host-root', host];
  const args = ['check', 'conntrack-table-full', '-o', 'json', ...root];
  const words = [...namespaces.enter, ...before, EXECUTABLE, ...args];
  const { node, faults } = reportOf(await runProgram(words));
  const { verdict, reason } = faults[0] ?? {};
  return { name: node.name, verdict, reason };
}

describe('a reader in a pod', () => {
  let onNode: Awaited<ReturnType<typeof check>>;

  beforeAll(async () => {
    namespaces = await makePrivateNamespaces({ also: ['net', 'uts'] });
    onNode = await check();
  });

  afterAll(async () => {
    await namespaces.stop();
    rmSync(host, { recursive: true });
  });

  test("enters the node's network and UTS namespaces", async () => {
    expect(await check(...AS_POD, SCRIPT, 'sh')).toEqual(onNode);
  });

  test("enters the node's cgroup namespace, in which pods have their whole paths", async () => {
    const place = 'readlink /proc/self/ns/cgroup';
    const wanted = await runProgram([...namespaces.enter, 'sh', '-c', place]);
    const module = join(import.meta.dirname, 'reader-namespaces.ts');
    const program = `
      import { spawnSync } from 'node:child_process';
      import { inNodeNamespaces } from '${module}';
      const reader = inNodeNamespaces({ program: '/bin/sh', arguments: ['-c', '${place}'] }, '${host}');
      spawnSync(reader.program, reader.arguments, { stdio: 'inherit' });`;
    const node = [process.execPath, '--input-type=module', '-e', program];
    const inPod = (...words: readonly string[]) =>
      runProgram([...namespaces.enter, ...AS_POD, SCRIPT, 'sh', ...words]);
    expect((await inPod('sh', '-c', place)).stdout).not.toBe(wanted.stdout);
    expect(await inPod(...node)).toMatchObject({ code: 0, stdout: wanted.stdout });
  });

  test('stays where it is if it may not enter them', async () => {
    const inPod = await check(...AS_POD, SCRIPT, 'sh', ...WITHOUT_SYS_ADMIN);
    expect(inPod).toMatchObject({ name: 'in-a-pod', verdict: 'unknown' });
    expect(inPod.reason).toContain('runs in another network namespace');
  });
});
