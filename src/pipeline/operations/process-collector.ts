import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { podOfCgroup } from '../../node/evidence/pods/pod-of-cgroup.ts';
import { parseCommandLine } from '../../node/evidence/processes/command-line.ts';
import { processes, TICKS_PER_SECOND, uptimeOf } from '../../node/evidence/processes/processes.ts';
import { attempt, type Snapshot } from '../../node/model/evidence.ts';
import { type ProcessEntry, ReadError } from '../../node/model/node-reader.ts';
import { redactText } from '../../node/redaction/redact-text.ts';
import { collected } from '../steps/operation-result.ts';
import { PROCESSES_AT_ONCE } from './limits.ts';
import type { PodScope } from './pod-scope.ts';
import type { OwnProcessor } from './processor-host.ts';

const LIST = 'collector.system.process.list';

export const processCollector: OwnProcessor = {
  path: '/processor/processCollector',
  operation: 'process-collector',
  does: 'collects the processes of the node, without secrets on their command lines',
  details:
    'A JSON list; memory is in bytes, `cpuPercent` is the average since the start of the process. For a ' +
    'process in uninterruptible sleep (status D) only the name is listed: reading its command line may hang.',
  reads: [],
  writes: [LIST],
  repairs: false,
  forPod: 'limited',
  run: (_, { node, settings, scope }) =>
    collected(LIST, processList(takeSnapshot(node, settings), scope)),
};

async function processList(snapshot: Snapshot, scope: PodScope | undefined): Promise<string> {
  const all = (await snapshot.of(processes)).filter(
    ({ cgroups }) => !scope || podOfCgroup(cgroups) === scope.uid,
  );
  const uptimeS = await uptimeOf(snapshot);
  if (!Number.isFinite(uptimeS)) throw new ReadError('malformed', '/proc/uptime');
  const list: object[] = [];
  for (let at = 0; at < all.length; at += PROCESSES_AT_ONCE) {
    const some = all.slice(at, at + PROCESSES_AT_ONCE);
    const reported = await Promise.all(
      some.map((each) => attempt(processOf(snapshot, each, uptimeS))),
    );
    for (const each of reported) {
      if (each.known) list.push(each.value);
      // It has ended since it was listed.
      else if (each.error.failure !== 'missing') throw each.error;
    }
  }
  return JSON.stringify(list);
}

async function processOf(
  snapshot: Snapshot,
  entry: ProcessEntry,
  uptimeS: number,
): Promise<object> {
  const { pid, parent: ppid, state } = entry;
  const [stat, status, text] = await Promise.all([
    snapshot.node.ask('file', { path: `/proc/${pid}/stat` }),
    snapshot.node.ask('file', { path: `/proc/${pid}/status` }),
    commandOf(snapshot, entry),
  ]);
  // 812 (kubelet) S 1 812 812 0 -1 4194560 52811 0 0 0 1042 311 0 0 20 0 14 0 1893 ...
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const startedS = Number(entry.startTime) / TICKS_PER_SECOND;
  const usedS = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  const bootMs = snapshot.node.now().getTime() - uptimeS * 1_000;
  return {
    pid,
    ppid,
    tgid: pid,
    command: redactText(text),
    status: state,
    createTime: new Date(bootMs + startedS * 1_000).toISOString(),
    cpuPercent: (100 * usedS) / Math.max(uptimeS - startedS, 1 / TICKS_PER_SECOND),
    nice: Number(fields[16]),
    memoryInfo: memoryIn(status),
  };
}

/** Its words are in its memory, which nobody can read while it waits for a dead mount with it locked. */
async function commandOf(
  snapshot: Snapshot,
  { pid, name, state }: ProcessEntry,
): Promise<readonly string[]> {
  if (state === 'D') return [`[${name}]`];
  return parseCommandLine(await snapshot.node.ask('file', { path: `/proc/${pid}/cmdline` }));
}

const MEMORY = {
  rss: 'VmRSS',
  vms: 'VmSize',
  hwm: 'VmHWM',
  data: 'VmData',
  stack: 'VmStk',
  locked: 'VmLck',
  swap: 'VmSwap',
} as const;

/** In bytes. A thread of the kernel has no memory of its own, and the kernel no line for it. */
function memoryIn(status: string): Readonly<Record<string, number>> {
  const kilobytes = new Map(
    // VmRSS:	  117740 kB
    [...status.matchAll(/^(Vm\w+):\s*(\d+) kB$/gm)].map(([, name = '', count]) => [name, count]),
  );
  return Object.fromEntries(
    Object.entries(MEMORY).map(([key, name]) => [key, Number(kilobytes.get(name) ?? 0) * 1_024]),
  );
}
