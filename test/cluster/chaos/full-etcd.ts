import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedCluster } from '../shared-cluster.ts';

const ALARMS = 'http://127.0.0.1:2379/v3/maintenance/alarm';
/** Fails unless etcd accepts the change. */
const ASK = `
const [url, body] = process.argv.slice(1);
const answer = await fetch(url, { method: 'POST', body });
if (!answer.ok) throw new Error(await answer.text());
`;

/**
 * Lets etcd refuse every write, as it does when its quota is used up. It is the same alarm, raised without
 * the two gigabytes; `full-etcd.apiserver.test.ts` fills an etcd with a small quota.
 */
export async function withFullEtcd(cluster: SharedCluster, forMs: number): Promise<void> {
  await changeAlarm(cluster, 'ACTIVATE');
  try {
    await sleep(forMs);
  } finally {
    await changeAlarm(cluster, 'DEACTIVATE');
  }
}

async function changeAlarm(
  cluster: SharedCluster,
  action: 'ACTIVATE' | 'DEACTIVATE',
): Promise<void> {
  const body = JSON.stringify({ action, alarm: 'NOSPACE' });
  const ask = [process.execPath, '--input-type=module', '--eval', ASK, ALARMS, body];
  const { code, stderr } = await cluster.run(ask);
  if (code !== 0) throw new Error(`etcd, ${action}: ${stderr.trim()}`);
}
