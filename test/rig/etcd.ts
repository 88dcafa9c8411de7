import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { textAt } from '../../src/lib/std/json.ts';
import type { KubeClient } from '../../src/pipeline/kube/kube-client.ts';
import type { PartPlan } from '../../tools/cluster/part.ts';

/** The etcd of a test, and what an operator does with one. */

export function etcdPlan(packages: string, scratch: string, more: readonly string[]): PartPlan {
  const address = 'http://127.0.0.1:2379';
  return {
    name: 'etcd',
    program: join(packages, 'usr/bin/etcd'),
    words: [
      `--data-dir=${join(scratch, 'etcd')}`,
      `--listen-client-urls=${address}`,
      `--advertise-client-urls=${address}`,
      '--listen-peer-urls=http://127.0.0.1:2380',
      '--unsafe-no-fsync',
      ...more,
    ],
  };
}

/** Drops all versions before the current one. */
export async function compact(client: KubeClient, socketPath: string): Promise<void> {
  const list = await client.request({ method: 'GET', path: '/api/v1/namespaces' });
  const revision = textAt(list, 'metadata', 'resourceVersion');
  await ask(socketPath, '/v3/kv/compaction', { revision, physical: true });
}

/** Returns free space to the file system, and ends the alarms of a full etcd: it accepts no write before. */
export async function defragment(socketPath: string): Promise<void> {
  await ask(socketPath, '/v3/maintenance/defragment', {});
  const { alarms } = (await ask(socketPath, '/v3/maintenance/alarm', { action: 'GET' })) as {
    readonly alarms?: readonly object[];
  };
  for (const alarm of alarms ?? []) {
    await ask(socketPath, '/v3/maintenance/alarm', { ...alarm, action: 'DEACTIVATE' });
  }
}

async function ask(socketPath: string, path: string, body: object): Promise<unknown> {
  const answer = await new Promise<string>((resolve, reject) => {
    const call = request(
      { socketPath, path, method: 'POST' },
      (response) => void text(response).then(resolve, reject),
    );
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
  if (answer.includes('"error":')) throw new Error(`etcd: ${answer}`);
  return JSON.parse(answer);
}
