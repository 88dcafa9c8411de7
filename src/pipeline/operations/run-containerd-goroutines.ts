import { setTimeout as sleep } from 'node:timers/promises';
import { sendSignal } from '../../lib/process/send-signal.ts';
import { takeSnapshot } from '../../node/checkup/take-snapshot.ts';
import { attempt, type Snapshot } from '../../node/model/evidence.ts';
import { type FileStatus, ReadError } from '../../node/model/node-reader.ts';
import { failedWith, refusedWith } from '../steps/operation-result.ts';
import { DUMP_POLL_MS, DUMP_WAIT_MS } from './limits.ts';
import { FILE_PLACE, type OwnProcessor } from './processor-host.ts';

const NAME = 'containerd';
const DUMP = 'collector.runtime.containerd.goroutine';

export const containerdGoroutineCollector: OwnProcessor = {
  path: '/processor/containerdGoroutineCollector',
  operation: 'containerd-goroutine-collector',
  does: 'makes containerd dump its goroutines (SIGUSR1) to a file',
  details:
    `The value is the path of ${FILE_PLACE} containerd writes the dump to its temporary directory and ` +
    'continues to run, so no approval is needed. The signal is sent only to a process that handles it.',
  reads: [],
  writes: [DUMP],
  repairs: false,
  forPod: 'refused',
  needsPermission: true,
  /**
   * Makes containerd dump its goroutines, and stores the dump. On SIGUSR1 it writes the dump to
   * a file in its directory for temporary files, and goes on with its work: the node stays as it was, so
   * this is no action that somebody has to agree to. The signal is sent only to a process that catches
   * it, for it would end any other.
   */
  async run(_, { node, settings, stop, storeFile }) {
    const here = takeSnapshot(node, settings);
    const found = await attempt(dumpingProcess(here));
    if (!found.known) return failedWith(found.why);
    const { entry, file, owner } = found.value;
    const before = await attempt(here.node.ask('status', { path: file }));
    if (before.known && before.value.type !== 'file') {
      return refusedWith(`${file} is no plain file; move it away: somebody else made it`);
    }
    const failure = sendSignal(entry, 'SIGUSR1');
    if (failure !== undefined) return failedWith(`${NAME} (pid ${entry.pid}): ${failure}`);
    const old = before.known ? before.value : undefined;
    const dump = await attempt(newDump(here, file, { old, owner, stop }));
    if (!dump.known) return failedWith(dump.why);
    const bytes = Buffer.from(dump.value);
    const stored = await storeFile({ kind: 'goroutines', name: `${NAME}.txt`, bytes });
    if (!stored.ok) return failedWith(`the dump cannot be stored: ${stored.why}`);
    return { succeeded: true, results: { [DUMP]: stored.value } };
  },
};

/** The process, the owner of its files, and where it will write its dump. */
async function dumpingProcess({ node }: Snapshot) {
  const all = await node.ask('processes', { all: 'processes' });
  const named = all.filter(({ name, state }) => name === NAME && state !== 'Z');
  const [entry, ...others] = named;
  if (!entry) throw new ReadError('missing', NAME, 'no process of this name runs on the node');
  if (others.length > 0) {
    const pids = named.map(({ pid }) => pid).join(', ');
    throw new ReadError('failed', NAME, `several run (${pids}), and which is meant is not known`);
  }
  const { pid } = entry;
  const status = await node.ask('file', { path: `/proc/${pid}/status` });
  if (!catchesUsr1(status)) {
    const why = `process ${pid} does not catch SIGUSR1, which would end it`;
    throw new ReadError('failed', NAME, why);
  }
  const environment = await attempt(node.ask('file', { path: `/proc/${pid}/environ` }));
  const folder = temporaryFolder(environment.known ? environment.value : '');
  // The number by which it knows itself is the last one. "NSpid:	4711	12"
  const inner = /^NSpid:.*\s(\d+)$/m.exec(status)?.[1] ?? String(pid);
  const owner = Number(/^Uid:\s+\d+\s+(\d+)/m.exec(status)?.[1]);
  return { entry, owner, file: `/proc/${pid}/root${folder}/${NAME}.${inner}.stacks.log` };
}

/** "SigCgt:	fffffffe3bfa3a00": a bit for each signal, from 1 on. */
function catchesUsr1(status: string): boolean {
  const SIGUSR1 = 10;
  const mask = /^SigCgt:\s+([0-9a-f]+)$/m.exec(status)?.[1];
  return mask !== undefined && (BigInt(`0x${mask}`) & (1n << BigInt(SIGUSR1 - 1))) !== 0n;
}

/** As Go chooses it. */
function temporaryFolder(environment: string): string {
  const set = environment.split('\0').find((pair) => pair.startsWith('TMPDIR='));
  const folder = set?.slice('TMPDIR='.length) ?? '';
  return folder.startsWith('/') ? folder.replace(/\/+$/, '') : '/tmp';
}

/** The file once it is new, whole, and of that process alone: others may write to that directory too. */
async function newDump(
  { node }: Snapshot,
  path: string,
  { old, owner, stop }: { old: FileStatus | undefined; owner: number; stop: AbortSignal },
): Promise<string> {
  const end = performance.now() + DUMP_WAIT_MS;
  let last: FileStatus | undefined;
  while (performance.now() < end && !stop.aborted) {
    await sleep(DUMP_POLL_MS);
    const seen = await attempt(node.ask('status', { path }));
    const now = seen.known ? seen.value : undefined;
    const isNew = now && (now.inode !== old?.inode || now.modifiedMs !== old.modifiedMs);
    // It is written in one go: a size that stays is the whole of it.
    if (!isNew || now.sizeBytes === 0 || now.sizeBytes !== last?.sizeBytes) {
      last = now;
      continue;
    }
    if (now.type !== 'file' || now.owner !== owner || now.links !== 1) {
      throw new ReadError('failed', path, `it is not a file of ${NAME} alone`);
    }
    const text = await node.ask('file', { path });
    // goroutine 1 [running]:
    if (/^goroutine \d+ \[/.test(text)) return text;
    throw new ReadError('malformed', path, 'it is no goroutine dump');
  }
  const waited = `nothing was written there within ${DUMP_WAIT_MS / 1_000} s`;
  throw new ReadError('timeout', path, stop.aborted ? 'it was stopped' : waited);
}
