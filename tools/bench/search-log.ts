import { LOG_LITERALS } from '../../src/evidence/log-signatures.ts';
import { logLines } from '../../src/node/answerer-log.ts';

/**
 * Searches a log as the reader does, in turn for what we look for and for ten literals more:
 * `search-log ROUNDS LINES FILE`.
 */
export interface SearchTimes {
  readonly allMs: number;
  readonly tenMoreMs: number;
}

const TEN_MORE = [
  'Failed to pull image',
  'certificate has expired',
  'failed to garbage collect required',
  'Nameserver limits were exceeded',
  'no IP addresses available in range',
  'Could not process manifest file',
  'use of closed network connection',
  'Image garbage collection failed',
  'failed to initialize top level QOS',
  'Eviction manager: failed to get summary',
];

const [rounds = '', lines = '', file = ''] = process.argv.slice(2);
const times = { all: [] as number[], tenMore: [] as number[] };

async function msOf(containing: readonly string[]): Promise<number> {
  globalThis.gc?.();
  // What our process used, on whichever cores: on a busy machine the clock would measure others.
  const begun = process.cpuUsage();
  const read = await logLines({ log: { file }, containing, lastBytes: 256 * 1024 * 1024 }, '/');
  const { user, system } = process.cpuUsage(begun);
  if (read.linesRead !== Number(lines) || read.lines.length === 0) {
    throw new Error(`${read.linesRead} lines read, not ${lines}`);
  }
  return (user + system) / 1000;
}

async function measure(): Promise<SearchTimes> {
  for (let round = 0; round < Number(rounds); round += 1) {
    times.all.push(await msOf(LOG_LITERALS));
    times.tenMore.push(await msOf([...LOG_LITERALS, ...TEN_MORE]));
  }
  return { allMs: Math.min(...times.all), tenMoreMs: Math.min(...times.tenMore) };
}

void measure().then((least) => process.stdout.write(JSON.stringify(least)));
