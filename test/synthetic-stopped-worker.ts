import { MatchingLines } from '../src/lib/std/matching-lines.ts';
import { UNIT_LOG_BYTES } from '../src/node/evidence/limits.ts';
import { KUBELET_UNITS, usualFiles } from '../src/node/evidence/logs/kubelet-log-files.ts';
import { UNIT_LITERALS } from '../src/node/evidence/logs/log-signatures-of-units.ts';
import type {
  FileStatus,
  LogLines,
  LogPlace,
  ProcessEntry,
} from '../src/node/model/node-reader.ts';
import { makeFolder, makeProc } from './synthetic-kubelet.ts';
import { NodeMaker } from './synthetic-node.ts';
import { addKernel } from './synthetic-worker.ts';

export const NOW = Date.parse('2026-04-04T16:40:00Z');
export const POD = '29da79e5-386c-4e0d-82c1-215f93ff955d';
const ROOT = '/var/lib/kubelet';
const FIRST_NAMESPACE = 'pid:[4026531836]';

export interface StoppedWorker {
  /** What `systemctl show` prints of the unit; null where it cannot be asked. */
  readonly unit?: Readonly<Record<string, string>> | null;
  /** Lines of the unit in the journal. */
  readonly journal?: readonly string[];
  readonly kernel?: readonly string[];
  readonly podFolders?: readonly string[];
  readonly processes?: readonly ProcessEntry[];
  readonly pidNamespace?: string | null;
  readonly listens?: boolean;
  /** Seconds since the boot; more than a day, unless it is given. */
  readonly uptimeS?: number;
  /** No usual directory of a kubelet exists. */
  readonly isWithoutRoot?: boolean;
  /** The journal of the unit is longer than what is read of it, so its older lines are missing. */
  readonly journalLinesRead?: number;
  /** The same of systemd's own lines in it. */
  readonly systemdLinesRead?: number;
}

export function process(pid: number, name: string, cgroup: string, state = 'S'): ProcessEntry {
  const mountNamespace = 'mnt:[4026531841]';
  return { pid, parent: 1, name, state, startTime: '1532', cgroups: [cgroup], mountNamespace };
}

export const INIT = process(1, 'systemd', '/init.scope');
export const PAUSE = process(990, 'pause', `/kubepods/besteffort/pod${POD}/4f0c`);

/** A worker on which a kubelet was, and none runs. */
export function stoppedWorker(created: StoppedWorker): NodeMaker {
  const maker = new NodeMaker();
  maker.clock = new Date(NOW);
  makeProc(maker, []);
  maker.file('/proc/sys/kernel/hostname', 'worker-7\n');
  maker.file('/proc/uptime', `${created.uptimeS ?? 90_000}.00 900.00\n`);
  if (created.isWithoutRoot) {
    for (const path of ['/var', '/opt']) maker.missing('status', path);
  } else {
    makeFolder(maker, '', ROOT);
    maker.folder(`${ROOT}/pods`, created.podFolders ?? [POD]);
  }
  const { pidNamespace = FIRST_NAMESPACE } = created;
  const link = { path: '/proc/1/ns/pid' };
  maker.set('link', link, pidNamespace === null ? { failure: 'denied' } : { answer: pidNamespace });
  const all = created.processes ?? [INIT, PAUSE];
  maker.set('processes', { all: 'processes' }, { answer: all });
  const port = created.listens ? '280A' : '0016';
  maker.file('/proc/1/net/tcp', `   0: 00000000:${port} 00000000:0000 0A 0:0 00:0 0 0 0 51327 1\n`);
  maker.file('/proc/1/net/tcp6', '');
  addKernel(maker);
  addUnit(maker, KUBELET_UNITS, ['kubelet'], created);
  for (const { path } of usualFiles()) setLog(maker, { file: path }, undefined);
  return maker;
}

/** What systemd and the journal say of a service. */
export function addUnit(
  maker: NodeMaker,
  units: readonly string[],
  programs: readonly string[],
  { unit = null, journal = [], kernel = [], ...cut }: StoppedWorker,
): void {
  maker.set('status', { path: '/' }, { answer: FOLDER });
  makeFolder(maker, '', '/usr/bin');
  const program = '/usr/bin/systemctl';
  if (unit === null) {
    maker.set('status', { path: program }, { failure: 'missing' });
    maker.set('status', { path: '/bin' }, { failure: 'missing' });
  } else {
    maker.set('status', { path: program }, { answer: { ...FOLDER, type: 'file' } });
    const asked = { program, arguments: ['show', '--no-pager', PROPERTIES, ...units] };
    const answer = Object.entries(unit).map(([name, value]) => `${name}=${value}\n`);
    maker.set('version', asked, { answer: answer.join('') });
  }
  const fields = [
    ...units.flatMap((each) => [`_SYSTEMD_UNIT=${each}`, `UNIT=${each}`]),
    ...programs.map((comm) => `_COMM=${comm}`),
  ];
  const ofSystemd = units.map((each) => `UNIT=${each}`);
  const systemd = journal.filter((line) => line.includes(' systemd[1]: '));
  setLog(maker, { journal: ofSystemd }, systemd, cut.systemdLinesRead);
  setLog(maker, { journal: fields }, journal, cut.journalLinesRead);
  setLog(maker, { journal: ['_TRANSPORT=kernel'] }, kernel);
}

const PROPERTIES =
  '--property=Id,LoadState,ActiveState,SubState,Result,ExecMainStatus,NRestarts,UnitFileState,StateChangeTimestamp,Job';

const FOLDER: FileStatus = {
  ...{ type: 'folder', mode: 0o755, owner: 0, device: '254:1', inode: '2' },
  ...{ links: 2, sizeBytes: 4096, modifiedMs: 0 },
};

function setLog(
  maker: NodeMaker,
  log: LogPlace,
  lines: readonly string[] | undefined,
  linesRead = Number.POSITIVE_INFINITY,
): void {
  const asked = { log, containing: UNIT_LITERALS, lastBytes: UNIT_LOG_BYTES };
  const answer = lines && {
    ...readLines(lines.slice(-linesRead)),
    isWhole: lines.length <= linesRead,
  };
  maker.set('log', asked, answer ? { answer } : { failure: 'missing' });
}

function readLines(lines: readonly string[]): LogLines {
  const matching = new MatchingLines(UNIT_LITERALS, {
    firstMax: 20,
    lastMax: 200,
    characterMax: 8 * 1024,
  });
  const text = lines.map((line) => `${line}\n`).join('');
  matching.push(text);
  const { lines: stored, counts, first, last, scanned } = matching.end();
  return {
    lines: stored.map(({ at, text: line }) => ({ number: at, text: line })),
    ...{ containing: UNIT_LITERALS, counts, first: first ?? null, last: last ?? null },
    ...{ linesRead: scanned, bytesRead: text.length, isWhole: true, modifiedMs: null },
  };
}
