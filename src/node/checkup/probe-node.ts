import { sha256 } from '../../lib/std/sha256.ts';
import { bytesOf } from '../../lib/std/text-codec.ts';
import { unescapeOctal } from '../../lib/std/unescape-octal.ts';
import { health, healthIn } from '../evidence/kubelet/health.ts';
import { type Kubelet, kubelet } from '../evidence/kubelet/kubelet.ts';
import { pagesOf } from '../evidence/kubelet/kubelet-page.ts';
import { journalOf, logFiles } from '../evidence/logs/kubelet-log-files.ts';
import { literalsOf, SIGNATURES } from '../evidence/logs/log-signatures.ts';
import { attempt, type Snapshot, type SnapshotOptions } from '../model/evidence.ts';
import {
  type KubeletPage,
  type LogPlace,
  type NodeReader,
  originOf,
} from '../model/node-reader.ts';
import { originText } from '../model/origin.ts';
import {
  PROBE_LOG_BYTES,
  PROBE_LOG_FILES_MAX,
  PROBE_NEW_PLACES_MS,
  PROBE_PLACES_MS,
} from './limits.ts';
import { ProbeBudget } from './probe-budget.ts';
import { takeSnapshot } from './take-snapshot.ts';

/**
 * A cheap test whether a node has changed since the last check. It returns a digest, and another
 * digest means "check now". It is never the basis of a verdict, so it may miss changes: checks must
 * also run at an interval. It is in this module because it needs evidence and log signatures, as a
 * check does; it must not be evidence, because then a fault could use it.
 */
export type Probe = (probed: ProbedNode) => Promise<string>;

export interface ProbedNode {
  /** Asked each time: it answers from tables of the kernel, without a reader. */
  readonly tables: NodeReader;
  /** Asked only when a reader may start, which then ends. */
  readonly node: NodeReader & { pause(): void };
  /** When the last check ended: it has read what a reader of the probe would read. */
  readonly checkedMs?: number | undefined;
}

/**
 * The tables show the kubelet's state, its mounts, and whether one of its threads waits for a path. They
 * also show that its log has grown: then a reader reads the new errors in the log, and its health. A
 * read that fails is part of the digest. Remembers where to read, because the search for the kubelet
 * costs more than the rest.
 */
export function createProbe(settings: SnapshotOptions = {}): Probe {
  const budget = new ProbeBudget();
  let places: Places | undefined;
  let failure = '';
  let asked = '';
  let length = '';
  let waits: ReadonlySet<string> = new Set();

  const search = async (node: NodeReader) => {
    const found = await attempt(findPlaces(takeSnapshot(node, settings)));
    places = found.known ? found.value : undefined;
    failure = found.known ? '' : found.error.failure;
  };
  const read = async ({ tables, node }: ProbedNode, state: string) => {
    const isOld = places && node.now().getTime() - places.foundMs >= places.validMs;
    if (!places || isOld || state === GONE) await search(node);
    if (places) {
      // Before the log: what is written meanwhile is read the next time.
      length = await logLength(tables, places.here.process);
      const [log, healthz] = await Promise.all([
        logDigest(node, places),
        healthState(node, places.healthPage),
      ]);
      asked = `log=${log} health=${healthz}`;
    }
    node.pause();
  };

  return async (probed) => {
    const { tables } = probed;
    let state = await processState(tables, places?.here.process);
    const hasGrown = length !== (await logLength(tables, places?.here.process));
    const isQuiet = places?.hasVisibleLog && /\d/.test(length) && !hasGrown;
    const reason = state === GONE ? 'gone' : isQuiet ? 'quiet' : hasGrown ? 'grown' : 'rest';
    if (budget.take(reason, tables.now().getTime(), probed.checkedMs)) {
      await read(probed, state);
      state = await processState(tables, places?.here.process);
    }
    if (!places) return `kubelet=${failure}`;
    const { process, root } = places.here;
    const [mounts, waitsNow] = await Promise.all([
      mountsDigest(tables, state === GONE || !process ? 1 : process.pid, root),
      pathWaits(tables, process),
    ]);
    const lasting = [...waitsNow].filter((wait) => waits.has(wait)).toSorted();
    waits = waitsNow;
    const waiting = lasting.length === 0 ? 'none' : await digestOf(lasting.join('\n'));
    return `kubelet=${state} mounts=${mounts} ${asked} waits=${waiting}`;
  };
}

interface Places {
  readonly foundMs: number;
  readonly validMs: number;
  readonly here: Kubelet;
  readonly logs: readonly LogPlace[];
  /** The tables show that it grows: it is the output of the process. */
  readonly hasVisibleLog: boolean;
  readonly literals: readonly string[];
  /** The page that has shown the health of the kubelet; undefined if none has. */
  readonly healthPage: KubeletPage | undefined;
}

async function findPlaces(snapshot: Snapshot): Promise<Places> {
  const here = await snapshot.of(kubelet);
  const declared = snapshot.logSignatures.filter(({ log }) => log === 'kubelet');
  // The messages of a working sync loop are no news.
  const signatures = [...SIGNATURES, ...declared].filter(({ id }) => id !== 'sync-loop');
  const seen = await attempt(snapshot.of(health));
  const url = seen.known ? originText(seen.value.origin) : undefined;
  const pages = pagesOf(here, '/healthz', '/healthz/syncloop');
  const logs = await logPlaces(snapshot);
  // /proc/812/fd/2
  const isOutput = (log: LogPlace) => 'file' in log && /^\/proc\/\d+\/fd\/[12]$/.test(log.file);
  const healthPage = pages.find((page) => originText(originOf(page)) === url);
  // Other log files are replaced by new ones, and a kubelet that starts opens its ports later.
  const isLasting = healthPage && logs.every((log) => isOutput(log) || 'journal' in log);
  return {
    foundMs: snapshot.node.now().getTime(),
    validMs: isLasting ? PROBE_PLACES_MS : PROBE_NEW_PLACES_MS,
    here,
    logs,
    hasVisibleLog: logs.every(isOutput),
    literals: literalsOf(signatures),
    healthPage,
  };
}

async function logPlaces(snapshot: Snapshot): Promise<readonly LogPlace[]> {
  const { kubeletLog } = snapshot.settings;
  if (kubeletLog !== undefined) return [{ file: kubeletLog }];
  const files = await logFiles(snapshot, []);
  if (files.length === 0) return [{ journal: await journalOf(snapshot) }];
  return files.slice(-PROBE_LOG_FILES_MAX).map(({ path }) => ({ file: path }));
}

const GONE = 'gone';

/** Its identity, and whether a signal has stopped it. */
async function processState(node: NodeReader, known: Kubelet['process']): Promise<string> {
  if (!known) return GONE;
  const stat = await attempt(node.ask('file', { path: `/proc/${known.pid}/stat` }));
  if (!stat.known) return stat.error.failure === 'missing' ? GONE : stat.error.failure;
  // 812 (kubelet) S 1 812 812 0 -1 4194560 ... 20 0 14 0 1532 1936203776 ...
  const [state = '', ...fields] = stat.value.slice(stat.value.lastIndexOf(')') + 2).split(' ');
  if (fields[22 - 4] !== known.startTime) return GONE;
  return `${known.pid}/${known.startTime}${/^[TZX]$/.test(state) ? state : ''}`;
}

/**
 * The calls with a path in which threads of the kubelet are. One that is there in two probes waits,
 * perhaps for a dead volume: long before the health of the sync loop changes.
 */
async function pathWaits(
  node: NodeReader,
  known: Kubelet['process'],
): Promise<ReadonlySet<string>> {
  if (!known) return new Set();
  const read = await attempt(node.ask('threads', { threadsOf: known.pid }));
  // Threads pile up behind a path that hangs.
  if (!read.known && read.error.failure === 'too-large') return new Set(['many']);
  const threads = read.known ? read.value : [];
  return new Set(threads.flatMap(({ tid, callLine }) => (callLine ? [`${tid} ${callLine}`] : [])));
}

/** How much the kubelet has written to its output. If that is not a file, the length stays the same. */
async function logLength(node: NodeReader, known: Kubelet['process']): Promise<string> {
  if (!known) return '';
  const reads = [1, 2].map(async (descriptor) => {
    const read = await attempt(
      node.ask('file', { path: `/proc/${known.pid}/fdinfo/${descriptor}` }),
    );
    // pos:	48213
    return read.known ? (/^pos:\s*(\d+)$/m.exec(read.value)?.[1] ?? '') : read.error.failure;
  });
  return (await Promise.all(reads)).join(' ');
}

/** Only mounts below the kubelet's root: other mounts change with every container. */
async function mountsDigest(node: NodeReader, pid: number, root: string): Promise<string> {
  const read = await attempt(node.ask('file', { path: `/proc/${pid}/mountinfo` }));
  if (!read.known) return read.error.failure;
  const lines = read.value.split('\n');
  return digestOf(lines.filter((line) => unescapeOctal(line).includes(root)).join('\n'));
}

async function logDigest(node: NodeReader, { logs, literals }: Places): Promise<string> {
  const reads = logs.map(async (log) => {
    const asked = { log, containing: literals, lastBytes: PROBE_LOG_BYTES };
    const read = await attempt(node.ask('log', asked));
    return read.known ? read.value.lines.map(({ text }) => withoutNumbers(text)) : read.why;
  });
  const lines = (await Promise.all(reads)).flat();
  return digestOf([...new Set(lines)].toSorted().join('\n'));
}

/** A retry differs from the attempt before in times and in the id of the container only. */
function withoutNumbers(line: string): string {
  // E1116 21:14:02.612345    812 remote_runtime.go:251] "StartContainer ..." containerID="4f0c..."
  return line.replace(/[0-9a-f]{12,}|\d+/g, '0');
}

async function healthState(node: NodeReader, page: KubeletPage | undefined): Promise<string> {
  if (!page) return 'unknown';
  const read = await attempt(node.ask('kubelet', page));
  if (!read.known) return read.error.failure;
  return healthIn(read.value.body)?.loop ?? String(read.value.status);
}

async function digestOf(text: string): Promise<string> {
  return (await sha256(bytesOf(text))).slice(0, DIGITS);
}

const DIGITS = 16;
