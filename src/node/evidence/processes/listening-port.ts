import { attempt, type Snapshot } from '../../model/evidence.ts';

/** MQTT without TLS. */
const BROKER_PORT = 1883;

/**
 * Whether a process listens on the MQTT port in the network namespace of this container. Returns
 * false if unknown, because only a sentence of the report depends on it.
 */
export async function isServing(snapshot: Snapshot, containerId: string): Promise<boolean> {
  const all = await attempt(snapshot.node.ask('processes', { all: 'processes' }));
  const one = all.known
    ? all.value.find(({ cgroups }) => cgroups.some((cgroup) => cgroup.includes(containerId)))
    : undefined;
  if (!one) return false;
  for (const table of ['tcp', 'tcp6']) {
    const path = `/proc/${one.pid}/net/${table}`;
    const text = await attempt(snapshot.node.ask('file', { path }));
    if (text.known && listensOn(text.value, BROKER_PORT)) return true;
  }
  return false;
}

/** Parses /proc/<pid>/net/tcp or tcp6. */
export function listensOn(table: string, port: number): boolean {
  return table.split('\n').some((line) => {
    //    0: 00000000:075B 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1883  0 51327 1
    const [, local = '', , state] = line.trim().split(/\s+/);
    return state === LISTENING && Number.parseInt(local.split(':').at(-1) ?? '', 16) === port;
  });
}

const LISTENING = '0A';
