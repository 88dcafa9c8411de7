import { sha256 } from '../../lib/std/sha256.ts';
import { bytesOf } from '../../lib/std/text-codec.ts';
import { unescapeOctal } from '../../lib/std/unescape-octal.ts';
import { health, healthIn } from '../evidence/kubelet/health.ts';
import { type Kubelet, kubelet, podsPathOf } from '../evidence/kubelet/kubelet.ts';
import { pagesOf } from '../evidence/kubelet/kubelet-page.ts';
import { resolvConfPaths } from '../evidence/kubelet/resolv-conf.ts';
import { processes } from '../evidence/processes/processes.ts';
import { runtimeProcesses } from '../evidence/services/runtime-service.ts';
import { resolvePath } from '../evidence/text/file-path.ts';
import { LEFTOVER_PATTERN } from '../evidence/volumes/leftover-names.ts';
import { attempt, type Snapshot, type SnapshotOptions } from '../model/evidence.ts';
import {
  type KubeletPage,
  type NodeReader,
  originOf,
  type ProcessEntry,
} from '../model/node-reader.ts';
import { originText } from '../model/origin.ts';
import type { QuickReader } from '../model/quick-reader.ts';
import { MOUNTS_SHARE, PROBE_NEW_PLACES_MS, PROBE_PLACES_MS } from './limits.ts';
import { Paced } from './paced.ts';
import { ProbeBudget } from './probe-budget.ts';
import { findLog, isLasting, type KubeletLogPlaces, ProbedLog } from './probed-log.ts';
import { takeSnapshot } from './take-snapshot.ts';
import { WatchedFiles, type WatchedPlaces } from './watched-files.ts';

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
  /** Asked each time for what no table shows. */
  readonly quick?: QuickReader | undefined;
  /** When the last check ended: it has read what a reader of the probe would read. */
  readonly checkedMs?: number | undefined;
}

/**
 * The tables show the state of kubelet and runtime, the kubelet's mounts, and whether one of its threads
 * waits for a path. They also show that its log has grown: then the quick reader reads the new lines, or
 * a reader does, which also asks for the health. The quick reader sees names and files. A read that fails is part of the
 * digest. Remembers where to read, because the search for the kubelet costs more than the rest.
 */
export function createProbe(
  settings: SnapshotOptions = {},
  nowMs: () => number = () => performance.now(),
): Probe {
  const budget = new ProbeBudget();
  const log = new ProbedLog();
  const watched = new WatchedFiles(nowMs);
  const mountTable = new Paced<string>(MOUNTS_SHARE, nowMs);
  let places: Places | undefined;
  let failure = '';
  let asked = '';
  let waits: ReadonlySet<string> = new Set();

  const search = async (node: NodeReader) => {
    const found = await attempt(findPlaces(takeSnapshot(node, settings)));
    places = found.known ? found.value : undefined;
    failure = found.known ? '' : found.error.failure;
  };
  const read = async ({ tables, node }: ProbedNode, isGone: boolean) => {
    // A clock that was set back must not make them valid for longer.
    const isOld = places && Math.abs(node.now().getTime() - places.foundMs) >= places.validMs;
    if (!places || isOld || isGone) await search(node);
    if (places) {
      const [logState, healthz] = await Promise.all([
        log.read(tables, node, places.log),
        healthState(node, places.healthPage),
      ]);
      asked = `read=${logState} health=${healthz}`;
    }
    node.pause();
  };

  return async (probed) => {
    const { tables } = probed;
    let state = await processState(tables, places?.here.process);
    let runtime = await runtimeState(tables, places?.runtime);
    const reason = state === GONE ? 'gone' : await log.growth(probed, places?.log);
    // A runtime that ended was perhaps started again, and has another pid.
    const due = reason === 'quiet' && runtime.includes(GONE) ? 'rest' : reason;
    if (budget.take(due, tables.now().getTime(), probed.checkedMs)) {
      await read(probed, state === GONE || runtime.includes(GONE));
      state = await processState(tables, places?.here.process);
      runtime = await runtimeState(tables, places?.runtime);
    }
    if (!places) return `kubelet=${failure}`;
    const { process, root } = places.here;
    const [mounts, waitsNow] = await Promise.all([
      mountTable.run(() =>
        mountsDigest(tables, state === GONE || !process ? 1 : process.pid, root),
      ),
      pathWaits(tables, process),
    ]);
    const lasting = [...waitsNow].filter((wait) => waits.has(wait)).toSorted();
    waits = waitsNow;
    const waiting = lasting.length === 0 ? 'none' : await digestOf(lasting.join('\n'));
    // The pid of a kubelet that is gone may be that of a container by now, with paths of its own.
    const quick = process && state === GONE ? undefined : probed.quick;
    const files = quick ? ` ${await watched.digest(quick, places.watched)}` : '';
    return `kubelet=${state} runtime=${runtime} mounts=${mounts} log=${log.news} ${asked} waits=${waiting}${files}`;
  };
}

interface Places {
  readonly foundMs: number;
  readonly validMs: number;
  readonly here: Kubelet;
  readonly runtime: readonly KnownProcess[];
  readonly log: KubeletLogPlaces;
  readonly watched: WatchedPlaces;
  /** The page that has shown the health of the kubelet; undefined if none has. */
  readonly healthPage: KubeletPage | undefined;
}

async function findPlaces(snapshot: Snapshot): Promise<Places> {
  const here = await snapshot.of(kubelet);
  const seen = await attempt(snapshot.of(health));
  const url = seen.known ? originText(seen.value.origin) : undefined;
  const pages = pagesOf(here, '/healthz', '/healthz/syncloop');
  const log = await findLog(snapshot);
  const healthPage = pages.find((page) => originText(originOf(page)) === url);
  // Other log files are replaced by new ones, and a kubelet that starts opens its ports later.
  return {
    foundMs: snapshot.node.now().getTime(),
    validMs: healthPage && isLasting(log) ? PROBE_PLACES_MS : PROBE_NEW_PLACES_MS,
    here,
    runtime: await findRuntime(snapshot, here),
    log,
    watched: await findWatched(snapshot, here),
    healthPage,
  };
}

async function findRuntime(
  snapshot: Snapshot,
  { runtimeSocket }: Kubelet,
): Promise<readonly KnownProcess[]> {
  const all = await attempt(snapshot.of(processes));
  if (!all.known || runtimeSocket === undefined) return [];
  return runtimeProcesses(all.value, runtimeSocket);
}

async function findWatched(snapshot: Snapshot, here: Kubelet): Promise<WatchedPlaces> {
  const view = `/proc/${here.process?.pid}/root`;
  const files = resolvConfPaths(here).map(async ({ view: path }) => {
    // The kernel would follow an absolute link to a file of our own root.
    const real = await attempt(resolvePath(snapshot.node, view, path.slice(view.length)));
    return real.known ? [`${view}${real.value}`] : [];
  });
  return {
    names: [{ folder: podsPathOf(here), pattern: LEFTOVER_PATTERN }],
    files: (await Promise.all(files)).flat(),
  };
}

const GONE = 'gone';

type KnownProcess = Pick<ProcessEntry, 'pid' | 'startTime'>;

async function runtimeState(
  node: NodeReader,
  known: readonly KnownProcess[] = [],
): Promise<string> {
  const states = await Promise.all(known.map((process) => processState(node, process)));
  return states.join(',');
}

/** Its identity, and whether a signal has stopped it. */
async function processState(node: NodeReader, known: KnownProcess | undefined): Promise<string> {
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

/** Only mounts below the kubelet's root: other mounts change with every container. */
async function mountsDigest(node: NodeReader, pid: number, root: string): Promise<string> {
  const read = await attempt(node.ask('file', { path: `/proc/${pid}/mountinfo` }));
  if (!read.known) return read.error.failure;
  const isBelow = (line: string) =>
    line.includes(root) || (line.includes('\\') && unescapeOctal(line).includes(root));
  return digestOf(read.value.split('\n').filter(isBelow).join('\n'));
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
