import {
  attempt,
  defineEvidence,
  type Snapshot,
  type UnknownReason,
} from '../../model/evidence.ts';
import { type LogPlace, originOfLog, ReadError } from '../../model/node-reader.ts';
import { type Origin, originText } from '../../model/origin.ts';
import { JOURNAL_BYTES, JOURNAL_MORE_BYTES, LOG_BYTES, LOG_MORE_BYTES } from '../limits.ts';
import {
  journalOf,
  type LogFile,
  logFiles,
  rotatedBefore,
  usualFiles,
} from './kubelet-log-files.ts';
import { entriesOf, type KubeletLog, logOfLines, mergedLogs } from './log-entries.ts';
import { literalsOf, SIGNATURES } from './log-signatures.ts';

/**
 * The kubelet's log: the file that the user named, the files that the kubelet writes to, the
 * journal, or the default paths of some distributions.
 */
export const kubeletLog = defineEvidence<KubeletLog>({
  id: 'kubelet-log',
  title: 'The log of the kubelet',
  command: 'journalctl -u kubelet --no-pager',
  collect: async (snapshot) => ({ ...(await logOf(snapshot)), readAt: snapshot.node.now() }),
});

async function logOf(snapshot: Snapshot): Promise<KubeletLog> {
  const { kubeletLog: named } = snapshot.settings;
  if (named !== undefined) return readLog(snapshot, { file: named }, { file: named });
  const unread: UnknownReason[] = [];
  const places = await logFiles(snapshot, unread);
  const reported = await readAll(snapshot, places, unread);
  if (reported.length > 0) return mergedLogs(reported, unread.map(whyOf));
  const journal = { journal: await journalOf(snapshot) };
  const printed = await attempt(readLog(snapshot, journal, originOfLog(journal)));
  if (printed.known && hasLines(printed.value))
    return mergedLogs([printed.value], unread.map(whyOf));
  const empty = { why: `${originText(originOfLog(journal))}: it has no lines` };
  unread.push(printed.known ? empty : printed);
  const usual = await readAll(snapshot, usualFiles(), unread);
  if (usual.length > 0) return mergedLogs(usual, unread.map(whyOf));
  const detail = `not found; name it with --kubelet-log (${unread.map(whyOf).join('; ')})`;
  const cause = unread.map(({ error }) => error);
  throw new ReadError('missing', "the kubelet's log", detail, { cause });
}

function whyOf({ why }: UnknownReason): string {
  return why;
}

/** The logs that have lines. A missing file is not a failure; any other error is noted. */
async function readAll(
  snapshot: Snapshot,
  files: readonly LogFile[],
  unread: UnknownReason[],
): Promise<readonly KubeletLog[]> {
  const logs: KubeletLog[] = [];
  for (const file of files) {
    const read = await attempt(readLog(snapshot, { file: file.path }, { file: file.origin }));
    if (!read.known) {
      if (read.error.failure !== 'missing') unread.push(read);
      continue;
    }
    if (!hasLines(read.value)) continue;
    logs.push(...(await readOlder(snapshot, file, read.value, unread)), read.value);
  }
  return logs;
}

/** A log that was rotated a moment ago is short, so the part before it is read too. */
async function readOlder(
  snapshot: Snapshot,
  file: LogFile,
  { sources }: KubeletLog,
  unread: UnknownReason[],
): Promise<readonly KubeletLog[]> {
  if (!file.isRotated || !sources.every(({ isWhole }) => isWhole)) return [];
  const older = await attempt(rotatedBefore(snapshot, file));
  if (!older.known) {
    unread.push(older);
    return [];
  }
  return readAll(snapshot, older.value, unread);
}

function hasLines({ sources }: KubeletLog): boolean {
  return sources.some(({ linesRead }) => linesRead > 0);
}

/** Reads the end of a log, and more if that does not show the last iteration of the sync loop. */
async function readLog(snapshot: Snapshot, log: LogPlace, origin: Origin): Promise<KubeletLog> {
  const { node } = snapshot;
  const declared = snapshot.logSignatures.filter((each) => each.log === 'kubelet');
  const signatures = [...SIGNATURES, ...declared];
  const asked = { log, containing: literalsOf(signatures) };
  const [some, more] =
    'file' in log ? [LOG_BYTES, LOG_MORE_BYTES] : [JOURNAL_BYTES, JOURNAL_MORE_BYTES];
  const options = { now: node.now(), signatures };
  const end = logOfLines(await node.ask('log', { ...asked, lastBytes: some }), origin, options);
  if (end.sources.every(({ isWhole }) => isWhole) || entriesOf(end, 'sync-loop').length > 0) {
    return end;
  }
  const longer = await attempt(node.ask('log', { ...asked, lastBytes: more }));
  return longer.known ? logOfLines(longer.value, origin, options) : end;
}
