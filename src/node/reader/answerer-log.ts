import { fstatSync, readSync, statSync } from 'node:fs';
import { type ProgramResult, runProgram } from '../../lib/process/run.ts';
import { type Matches, MatchingLines } from '../../lib/std/matching-lines.ts';
import { textOf } from '../../lib/std/text-codec.ts';
import {
  type LogLine,
  type LogLines,
  type Question,
  ReadError,
  sourceOf,
} from '../model/node-reader.ts';
import { chrootsInto, isNotRun } from './answerer-program.ts';
import {
  JOURNAL_MS,
  LOG_BYTES_MAX,
  LOG_CHARACTERS_MAX,
  LOG_FIRST_LINES_MAX,
  LOG_LAST_LINES_MAX,
  LOG_LINE_CHARACTERS_MAX,
  LOG_LITERALS_MAX,
  VERSION_BYTES_MAX,
} from './limits.ts';
import { pathInRoot } from './path-in-root.ts';
import { JOURNAL_FOLDER, VOLATILE_JOURNAL_FOLDER } from './reach.ts';
import { withFile } from './read-file.ts';

/** Picks the lines out of a log: only what was asked for travels, not the log. */
export async function logLines(asked: Question<'log'>, hostRoot: string): Promise<LogLines> {
  const { log, containing, lastBytes } = asked;
  if (containing.length > LOG_LITERALS_MAX || lastBytes > LOG_BYTES_MAX) {
    throw new ReadError('unsupported', sourceOf(asked), 'more than may be asked of a log');
  }
  if (!containing.every((literal) => ASCII.test(literal))) {
    throw new ReadError('unsupported', sourceOf(asked), 'a literal must be plain ASCII');
  }
  return 'file' in log ? linesOfFile(asked, log.file, hostRoot) : linesOfJournal(asked, hostRoot);
}

// failed to remove container
const ASCII = /^[ -~]{3,}$/;

/** Texts of this size die young: larger ones pile up until the whole memory is swept. */
const CHUNK_BYTES = 64 * 1024;

function linesOfFile(asked: Question<'log'>, path: string, hostRoot: string): LogLines {
  const { containing, lastBytes } = asked;
  return withFile(pathInRoot(hostRoot, path, 'follow'), path, (file) => {
    const { size, mtimeMs } = fstatSync(file);
    const start = Math.max(0, size - lastBytes);
    const matching = new MatchingLines(containing, {
      firstMax: LOG_FIRST_LINES_MAX,
      lastMax: LOG_LAST_LINES_MAX,
      characterMax: LOG_LINE_CHARACTERS_MAX,
    });
    const bytesRead = pushLines(matching, file, start, size);
    const read = { bytesRead, isWhole: start === 0, modifiedMs: Math.trunc(mtimeMs) };
    return answerOf(containing, matching.end(), read);
  });
}

function answerOf(
  containing: readonly string[],
  { lines, counts, first, last, scanned }: Matches,
  read: Pick<LogLines, 'bytesRead' | 'isWhole' | 'modifiedMs'>,
): LogLines {
  return {
    lines: newestOf(lines.map((line) => ({ number: line.at, text: decoded(line.text) }))),
    containing,
    counts,
    first: first === undefined ? null : decoded(first),
    last: last === undefined ? null : decoded(last),
    linesRead: scanned,
    ...read,
  };
}

/**
 * Not to its end, which may move while we read: a kubelet goes on writing. Whole lines at a time, so
 * that no text has to be put together or cut apart.
 */
function pushLines(matching: MatchingLines, file: number, start: number, end: number): number {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = start;
  let filled = 0;
  // In the middle of a log we begin with its next line.
  let isSkipping = start > 0;
  while (at < end) {
    const length = readSync(file, chunk, filled, Math.min(CHUNK_BYTES - filled, end - at), at);
    if (length === 0) break;
    at += length;
    filled += length;
    const lines = chunk.subarray(0, filled);
    const completeEnd = lines.lastIndexOf(NEWLINE) + 1;
    // A line that fills the piece is passed on as it is.
    const to = completeEnd === 0 && filled === CHUNK_BYTES ? filled : completeEnd;
    const from = !isSkipping ? 0 : completeEnd === 0 ? to : lines.indexOf(NEWLINE) + 1;
    if (to > from) matching.push(chunk.toString('latin1', from, to));
    isSkipping &&= completeEnd === 0;
    chunk.copyWithin(0, to, filled);
    filled -= to;
  }
  if (filled > 0 && !isSkipping) matching.push(chunk.toString('latin1', 0, filled));
  return at - start;
}

/** All lines are counted; of many long ones, the oldest are not sent. */
function newestOf(lines: readonly LogLine[]): readonly LogLine[] {
  let left = LOG_CHARACTERS_MAX;
  const first = lines.findLastIndex(({ text }) => {
    left -= text.length;
    return left < 0;
  });
  return lines.slice(first + 1);
}

const NEWLINE = 10;

/** The lines were searched as bytes, one character each. */
function decoded(line: string): string {
  return textOf(Buffer.from(line.endsWith('\r') ? line.slice(0, -1) : line, 'latin1'));
}

/** Newest first, so that what is left out is what is old. */
const PRINTED = ['--no-pager', '--quiet', '--all', '--reverse', '--output=short-iso'];

const PROGRAMS = ['/usr/bin/journalctl', '/bin/journalctl'];

async function linesOfJournal(asked: Question<'log'>, hostRoot: string): Promise<LogLines> {
  const { log } = asked;
  if ('file' in log) throw new Error('a file is no journal');
  const source = sourceOf(asked);
  const folder = journalFolder(log.folder, hostRoot);
  if (folder === undefined) throw new ReadError('missing', source, 'this node has no journal');
  const fields = log.journal.flatMap((field, index) => (index === 0 ? [field] : ['+', field]));
  const named = log.folder === undefined ? [] : [`--directory=${log.folder}`];
  const here = `--directory=${pathInRoot(hostRoot, folder, 'follow').toString('utf8')}`;
  const isOfNode = (program: string) => isThere(pathInRoot(hostRoot, program, 'follow'));
  const ways = [
    // The node's own program knows the node's journal best; ours may be older than its format.
    ...PROGRAMS.filter(isOfNode)
      .flatMap((program) => chrootsInto(hostRoot, program))
      .map((args) => [...args, ...named]),
    ...PROGRAMS.map((program) => [program, ...(hostRoot === '/' ? named : [here])]),
  ];
  for (const [program = '', ...args] of ways) {
    if (!isThere(program)) continue;
    const printed = await printJournal(asked, [program, ...args, ...PRINTED, ...fields]);
    if (printed) return printed;
  }
  const detail = 'journalctl is not here; name the file with --kubelet-log';
  throw new ReadError('unsupported', source, detail);
}

/** Touched first: a journal on a dead mount hangs this reader, and no program that nobody counts. */
function journalFolder(named: string | undefined, hostRoot: string): string | undefined {
  const folders = named === undefined ? [JOURNAL_FOLDER, VOLATILE_JOURNAL_FOLDER] : [named];
  return folders.find((folder) => isThere(pathInRoot(hostRoot, folder, 'follow')));
}

function isThere(path: string | Buffer): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Undefined when the program cannot be run here, so that there may be another way. */
async function printJournal(
  asked: Question<'log'>,
  [program = '', ...args]: readonly string[],
): Promise<LogLines | undefined> {
  const { containing, lastBytes } = asked;
  const matching = new MatchingLines(containing, {
    firstMax: LOG_LAST_LINES_MAX,
    lastMax: LOG_FIRST_LINES_MAX,
    characterMax: LOG_LINE_CHARACTERS_MAX,
  });
  let bytes = 0;
  const result = await runProgram({
    program,
    arguments: args,
    deadlineMs: JOURNAL_MS,
    outputBytesMax: VERSION_BYTES_MAX,
    onOutput: (chunk) => {
      bytes += chunk.length;
      matching.push(chunk.toString('latin1'));
      return bytes < lastBytes ? 'more' : 'enough';
    },
  });
  if (!hasPrinted(result, bytes, sourceOf(asked))) return undefined;
  const isWhole = result.ended === 'exit';
  const found = matching.end(isWhole ? 'whole' : 'cut');
  const { lines, first: last, last: first } = found;
  const read = { bytesRead: bytes, isWhole, modifiedMs: null };
  return answerOf(containing, { ...found, lines: lines.toReversed(), first, last }, read);
}

function hasPrinted(result: ProgramResult, bytes: number, source: string): boolean {
  if (result.ended === 'not-started' || isNotRun(result)) return false;
  if (bytes > 0 || (result.ended === 'exit' && result.code === 0)) return true;
  if (result.ended === 'deadline') throw new ReadError('timeout', source);
  const end = result.ended === 'exit' ? String(result.code) : result.signal;
  throw new ReadError('exited', source, `${end} ${result.stderr.trim()}`);
}
