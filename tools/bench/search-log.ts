import { readFileSync } from 'node:fs';
import { MatchingLines } from '../../src/lib/std/matching-lines.ts';
import { logOfLines } from '../../src/node/evidence/logs/log-entries.ts';
import { fieldsIn, literalsOf, SIGNATURES } from '../../src/node/evidence/logs/log-signatures.ts';
import { logSignatures } from '../../src/node/faults/index.ts';
import type { Signature } from '../../src/node/model/log-signature.ts';
import type { LogLines } from '../../src/node/model/node-reader.ts';
import { logLines } from '../../src/node/reader/answerer-log.ts';

/**
 * Searches a log as the reader does, and reads what every line that passes says by all signatures;
 * in turn for those that we know and for ten more: `search-log ROUNDS LINES FILE`.
 */
export interface SearchTimes {
  readonly allMs: number;
  readonly tenMoreMs: number;
}

const TEN_MORE = [
  'Failed to pull image',
  'certificate has expired',
  'failed to garbage collect required',
  'Failed to update lease and will retry',
  'no IP addresses available in range',
  'Could not process manifest file',
  'use of closed network connection',
  'Image garbage collection failed',
  'failed to initialize top level QOS',
  'Eviction manager: failed to get summary',
];

const TEN_SIGNATURES: readonly Signature[] = TEN_MORE.map((literal) => ({
  literals: [literal],
  patterns: [new RegExp(`${literal}[^"]*"?(?<rest>[^"\\n]+)`)],
}));

const ALL = [...SIGNATURES, ...logSignatures];

const [rounds = '', lines = '', file = ''] = process.argv.slice(2);
const times = { all: [] as number[], tenMore: [] as number[] };

/** All lines that pass: the reader retains only some hundreds of them, which would be too easy. */
function passingLines(): LogLines['lines'] {
  const everything = { firstMax: Number(lines), lastMax: 1, characterMax: 8 * 1024 };
  const matching = new MatchingLines(literalsOf(ALL), everything);
  matching.push(readFileSync(file, 'latin1'));
  return matching.end().lines.map(({ at, text }) => ({ number: at, text }));
}

async function msOf(passing: LogLines['lines'], more: readonly Signature[]): Promise<number> {
  const containing = literalsOf([...ALL, ...more]);
  globalThis.gc?.();
  // What our process used, on whichever cores: on a busy machine the clock would measure others.
  const begun = process.cpuUsage();
  const read = await logLines({ log: { file }, containing, lastBytes: 256 * 1024 * 1024 }, '/');
  const { entries } = logOfLines(
    { ...read, lines: passing },
    { file },
    {
      now: new Date(),
      signatures: ALL,
    },
  );
  const others = entries.filter(({ message }) => more.some((one) => fieldsIn(message, one)));
  const { user, system } = process.cpuUsage(begun);
  if (read.linesRead !== Number(lines) || entries.length < passing.length || others.length > 0) {
    throw new Error(`${read.linesRead} lines read, not ${lines}, or not what they say`);
  }
  return (user + system) / 1000;
}

async function measure(): Promise<SearchTimes> {
  const passing = passingLines();
  for (let round = 0; round < Number(rounds); round += 1) {
    times.all.push(await msOf(passing, []));
    times.tenMore.push(await msOf(passing, TEN_SIGNATURES));
  }
  return { allMs: Math.min(...times.all), tenMoreMs: Math.min(...times.tenMore) };
}

void measure().then((least) => process.stdout.write(JSON.stringify(least)));
