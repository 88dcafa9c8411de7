import { attempt } from '../../model/attempt.ts';
import { defineEvidence, type Look } from '../../model/evidence.ts';
import { type LogPlace, nameOfLog, ReadError } from '../../model/node-reader.ts';
import { JOURNAL_BYTES, JOURNAL_MORE_BYTES, LOG_BYTES, LOG_MORE_BYTES } from '../limits.ts';
import {
  journalOf,
  type LogFile,
  logFiles,
  rotatedBefore,
  usualFiles,
} from './kubelet-log-files.ts';
import { entriesOf, type KubeletLog, logOfLines, mergedLogs } from './log-entries.ts';
import { LOG_LITERALS } from './log-signatures.ts';

/**
 * The kubelet's log, wherever it is: in the file that a person named, in the files that the kubelet
 * was told or writes to, in the journal, or where some distributions keep it.
 */
export const kubeletLog = defineEvidence<KubeletLog>({
  id: 'kubelet-log',
  title: 'What the kubelet said in its log',
  collect: async (look) => ({ ...(await logOf(look)), readAt: look.node.now() }),
});

async function logOf(look: Look): Promise<KubeletLog> {
  const { kubeletLog: named } = look.settings;
  if (named !== undefined) return readLog(look, { file: named }, named);
  const unread: string[] = [];
  const places = await logFiles(look, unread);
  const told = await readAll(look, places, unread);
  if (told.length > 0) return mergedLogs(told, unread);
  const journal = { journal: await journalOf(look) };
  const printed = await attempt(readLog(look, journal, nameOfLog(journal)));
  if (printed.known && hasLines(printed.value)) return mergedLogs([printed.value], unread);
  unread.push(printed.known ? `${nameOfLog(journal)}: it has no lines` : printed.why);
  const usual = await readAll(look, usualFiles(), unread);
  if (usual.length > 0) return mergedLogs(usual, unread);
  const detail = `not found; name it with --kubelet-log (${unread.join('; ')})`;
  throw new ReadError('missing', "the kubelet's log", detail);
}

/** Those that have lines; a file that is not there is no failure, any other trouble is noted. */
async function readAll(
  look: Look,
  files: readonly LogFile[],
  unread: string[],
): Promise<readonly KubeletLog[]> {
  const logs: KubeletLog[] = [];
  for (const file of files) {
    const read = await attempt(readLog(look, { file: file.path }, file.origin));
    if (!read.known) {
      if (read.error.failure !== 'missing') unread.push(read.why);
      continue;
    }
    if (!hasLines(read.value)) continue;
    logs.push(...(await readOlder(look, file, read.value, unread)), read.value);
  }
  return logs;
}

/** A log that was turned over a moment ago says little: then the one before it is read too. */
async function readOlder(
  look: Look,
  file: LogFile,
  { sources }: KubeletLog,
  unread: string[],
): Promise<readonly KubeletLog[]> {
  if (!file.isRotated || !sources.every(({ isWhole }) => isWhole)) return [];
  const older = await attempt(rotatedBefore(look, file));
  if (!older.known) {
    unread.push(older.why);
    return [];
  }
  return readAll(look, older.value, unread);
}

function hasLines({ sources }: KubeletLog): boolean {
  return sources.some(({ linesRead }) => linesRead > 0);
}

/** The end of it; and more of it when that does not show when the sync loop last moved. */
async function readLog({ node }: Look, log: LogPlace, origin: string): Promise<KubeletLog> {
  const [some, more] =
    'file' in log ? [LOG_BYTES, LOG_MORE_BYTES] : [JOURNAL_BYTES, JOURNAL_MORE_BYTES];
  const end = logOfLines(await node.ask('log', asking(log, some)), origin, node.now());
  if (end.sources.every(({ isWhole }) => isWhole) || hasTurns(end)) return end;
  const longer = await attempt(node.ask('log', asking(log, more)));
  return longer.known ? logOfLines(longer.value, origin, node.now()) : end;
}

function hasTurns(log: KubeletLog): boolean {
  return entriesOf(log, 'sync-loop').length > 0;
}

function asking(log: LogPlace, lastBytes: number) {
  return { log, containing: LOG_LITERALS, lastBytes };
}
