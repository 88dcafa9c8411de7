import { bytesOf } from '../../lib/std/text-codec.ts';
import { type Kubelet, kubelet } from '../evidence/kubelet/kubelet.ts';
import { journalOf, logFiles } from '../evidence/logs/kubelet-log-files.ts';
import { literalsOf, SIGNATURES } from '../evidence/logs/log-signatures.ts';
import { podOfCgroup } from '../evidence/pods/pod-of-cgroup.ts';
import { processes } from '../evidence/processes/processes.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';
import type { LogPlace, NodeReader, ProcessEntry } from '../model/node-reader.ts';
import type { QuickReader } from '../model/quick-reader.ts';
import { PROBE_LOG_BYTES, PROBE_LOG_FILES_MAX, PROBE_LOG_MARGIN_BYTES } from './limits.ts';
import { LogNews } from './log-news.ts';
import type { Reason } from './probe-budget.ts';

/** Where the kubelet logs, and what may be an error in it. */
export interface KubeletLogPlaces {
  readonly logs: readonly LogPlace[];
  readonly process: Kubelet['process'];
  /** The process that writes the journal, if the log is there. */
  readonly journalPid: number | undefined;
  readonly literals: readonly string[];
}

export async function findLog(snapshot: Snapshot): Promise<KubeletLogPlaces> {
  const { process } = await snapshot.of(kubelet);
  const declared = snapshot.logSignatures.filter(({ log }) => log === 'kubelet');
  // The messages of a working sync loop are no news.
  const signatures = [...SIGNATURES, ...declared].filter(({ id }) => id !== 'sync-loop');
  const logs = await logPlaces(snapshot);
  const isJournal = logs.some((log) => 'journal' in log);
  const journalPid = isJournal ? await findJournal(snapshot) : undefined;
  return { logs, process, journalPid, literals: literalsOf(signatures) };
}

async function logPlaces(snapshot: Snapshot): Promise<readonly LogPlace[]> {
  const { kubeletLog } = snapshot.settings;
  if (kubeletLog !== undefined) return [{ file: kubeletLog }];
  const files = await logFiles(snapshot, []);
  if (files.length === 0) return [{ journal: await journalOf(snapshot) }];
  return files.slice(-PROBE_LOG_FILES_MAX).map(({ path }) => ({ file: path }));
}

async function findJournal(snapshot: Snapshot): Promise<number | undefined> {
  const all = await attempt(snapshot.of(processes));
  const isOfNode = ({ name, cgroups }: ProcessEntry) =>
    name === 'systemd-journal' && podOfCgroup(cgroups) === undefined;
  return all.known ? all.value.find(isOfNode)?.pid : undefined;
}

/** Its logs stay the same files as long as the kubelet runs. */
export function isLasting({ logs }: KubeletLogPlaces): boolean {
  return logs.every((log) => descriptorOf(log) !== undefined || 'journal' in log);
}

/** The log of the kubelet: whether it has grown since the probe read it, and how many news it had. */
export class ProbedLog {
  readonly #news = new LogNews();
  #readLengths: Lengths = [];

  get news(): number {
    return this.#news.count;
  }

  /** Reads what is new by the quick reader if possible. Says whether a reader should read it. */
  async growth(
    { tables, quick }: { readonly tables: NodeReader; readonly quick?: QuickReader | undefined },
    places: KubeletLogPlaces | undefined,
  ): Promise<Exclude<Reason, 'gone'>> {
    const lengths = await lengthsOf(tables, places);
    const isVisible = lengths.length > 0 && lengths.every((each) => /^\d+$/.test(each));
    if (lengths.join(' ') === this.#readLengths.join(' ')) return isVisible ? 'quiet' : 'rest';
    const lines = places && (await newLines(quick, places, this.#readLengths, lengths));
    if (!lines) return 'grown';
    const isError = (line: string) => places.literals.some((literal) => line.includes(literal));
    this.#news.add(lines.filter(isError), tables.now().getTime());
    this.#readLengths = lengths;
    // There is nothing new in the log for a reader, but perhaps elsewhere.
    return 'rest';
  }

  /** Reads the end of the log by a reader. Returns the failure, or "ok". */
  async read(tables: NodeReader, node: NodeReader, places: KubeletLogPlaces): Promise<string> {
    // Before the log: what is written meanwhile is read the next time.
    this.#readLengths = await lengthsOf(tables, places);
    const { logs, literals: containing } = places;
    const reads = await Promise.all(
      logs.map((log) => attempt(node.ask('log', { log, containing, lastBytes: PROBE_LOG_BYTES }))),
    );
    const lines = reads.flatMap((read) => (read.known ? read.value.lines : []));
    this.#news.add(
      lines.map(({ text }) => text),
      node.now().getTime(),
    );
    return reads.find((read) => !read.known)?.error.failure ?? 'ok';
  }
}

/** A number for each log, or why it could not be read. */
type Lengths = readonly string[];

/**
 * How much the kubelet has written to its output; of a journal, how often the process that writes it
 * has run, which it does for each line. None for another file.
 */
async function lengthsOf(
  tables: NodeReader,
  places: KubeletLogPlaces | undefined,
): Promise<Lengths> {
  const { logs = [], journalPid, process } = places ?? {};
  const read = async (path: string, length: RegExp) => {
    const text = await attempt(tables.ask('file', { path }));
    return text.known ? (length.exec(text.value)?.[1] ?? 'malformed') : text.error.failure;
  };
  return Promise.all(
    logs.map(async (log) => {
      const descriptor = descriptorOf(log);
      if (process && descriptor !== undefined) {
        // pos:	48213
        return read(`/proc/${process.pid}/fdinfo/${descriptor}`, /^pos:\s*(\d+)$/m);
      }
      // 812345678 90123 4567
      const isJournal = 'journal' in log && journalPid !== undefined;
      return isJournal ? read(`/proc/${journalPid}/schedstat`, /^\d+ \d+ (\d+)$/m) : 'not visible';
    }),
  );
}

// /proc/812/fd/2
function descriptorOf(log: LogPlace): string | undefined {
  return 'file' in log ? /^\/proc\/\d+\/fd\/([12])$/.exec(log.file)?.[1] : undefined;
}

/** What was written to the output since; undefined if the quick reader cannot read it. */
async function newLines(
  quick: QuickReader | undefined,
  { logs }: KubeletLogPlaces,
  before: Lengths,
  now: Lengths,
): Promise<readonly string[] | undefined> {
  const parts = logs.flatMap((log, index) => {
    const [from, to] = [Number(before[index]), Number(now[index])];
    if (!('file' in log) || Number.isNaN(from + to)) return [];
    // A file that is shorter now was emptied; of a long part only the end is read.
    const newBytes = Math.min(to < from ? to : to - from, PROBE_LOG_BYTES);
    // It grows meanwhile, and a line that is read again is no news.
    return [{ path: log.file, lastBytes: newBytes + PROBE_LOG_MARGIN_BYTES }];
  });
  if (parts.length === 0 || parts.length < logs.length) return undefined;
  const answer = await quick?.ask({ names: [], files: [], logs: parts });
  // It does not say why it could read nothing of what was written.
  if (!answer || answer.logs.includes('')) return undefined;
  return answer.logs.flatMap((text, index) => {
    const [first = '', ...others] = text.split('\n');
    // A part of a longer log begins within a line.
    const isCut = bytesOf(text).length >= (parts[index]?.lastBytes ?? 0);
    return isCut ? others : [first, ...others];
  });
}
