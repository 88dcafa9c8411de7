import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { geteuid } from 'node:process';
import type { NamedKind, OptionSpec } from '../../../lib/terminal/command-spec.ts';
import { type Terminal, UsageError } from '../../../lib/terminal/terminal.ts';
import { takeSnapshot } from '../../../node/checkup/take-snapshot.ts';
import { socketOf } from '../../../node/evidence/kubelet/kubelet.ts';
import { findKubelet } from '../../../node/evidence/kubelet/kubelet-process.ts';
import { resolvePath } from '../../../node/evidence/text/file-path.ts';
import { attempt } from '../../../node/model/evidence.ts';
import type { FileStatus } from '../../../node/model/node-reader.ts';
import type { LiveNode } from '../../../node/reader/live-node.ts';
import { IS_DENIED, IS_GONE, orCode } from '../../../node/reader/read-file.ts';
import { openLiveNode } from '../../local-node/open-live-node.ts';
import { placeIn } from '../agent-client/agent-client.ts';
import { nodeAccessOf, reportAbandoned } from '../input/open-node.ts';
import { absolute, integer } from './options.ts';

/** These create the state directory, or work without it. The others need the one of an agent. */
const BEFORE_STATE_FOLDER: ReadonlySet<string> = new Set([
  'recover',
  'run',
  'serve',
  'executor',
  'journal',
]);

const FOUND_AUTOMATICALLY = '; without the option, kubediag finds it automatically';

type Options = Readonly<Partial<Record<string, unknown>>>;

/** An option that a person gave, and whose value must exist. */
export interface NamedOption extends Required<Pick<OptionSpec, 'names' | 'on'>> {
  readonly flag: string;
  readonly value: string;
}

/**
 * Checks that the files, sockets and processes named by options exist, before the command runs. A
 * reader process looks paths up: one on a dead mount is no usage error, and must not hang us.
 */
export async function checkOptions(
  command: string,
  named: readonly NamedOption[],
  options: Options,
  terminal: Terminal,
): Promise<void> {
  const { kubeletCert, kubeletKey } = options;
  if ((kubeletCert === undefined) !== (kubeletKey === undefined)) {
    const [given, other] = kubeletCert === undefined ? ['key', 'cert'] : ['cert', 'key'];
    throw new UsageError(`--kubelet-${given} needs --kubelet-${other} as well`);
  }
  const { kubeletPid: pid } = options;
  const kubeletPid = typeof pid === 'string' ? integer('--kubelet-pid', pid) : undefined;
  const access = nodeAccessOf({ hostRoot: '/', ...options });
  const node = openLiveNode(access);
  const here = access.hostRoot === '/' ? node : openLiveNode({ hostRoot: '/' });
  let wrongUsage: string | undefined;
  for (const option of named) {
    const problem = await problemOf(option, { here, node, command, kubeletPid });
    if (!problem) continue;
    const advice = problem.isMissing && option.on === 'node' ? FOUND_AUTOMATICALLY : '';
    const text = `${option.flag} ${option.value}: ${problem.why}${advice}`;
    // An agent starts with the machine, perhaps before the kubelet and the runtime.
    const isAgent = command === 'serve' || command === 'executor';
    const mayComeLater = isAgent && problem.isMissing && option.names !== 'host-root';
    if (mayComeLater) terminal.err(`warning: ${text}\n`);
    else wrongUsage ??= text;
  }
  here.close();
  // The command reads the same node next, and can reuse this reader.
  if (wrongUsage === undefined) node.pause();
  else node.close();
  for (const each of new Set([here, node])) await reportAbandoned(each, terminal);
  if (wrongUsage !== undefined) throw new UsageError(wrongUsage);
}

interface Observation {
  readonly here: LiveNode;
  readonly node: LiveNode;
  readonly command: string;
  readonly kubeletPid: number | undefined;
}

interface Problem {
  readonly why: string;
  readonly isMissing: boolean;
}

const wrong = (why: string): Problem => ({ why, isMissing: false });
const missing = (noun: string): Problem => ({ why: `no such ${noun}`, isMissing: true });

async function problemOf(option: NamedOption, sight: Observation): Promise<Problem | undefined> {
  const { flag, names: kind, on, value } = option;
  const node = sight[on === 'node' ? 'node' : 'here'];
  if (kind === 'address') {
    return placeIn(value) ? undefined : wrong('not an address; for example http://127.0.0.1:8090');
  }
  if (kind === 'process') {
    const asked = node.ask('file', { path: `/proc/${integer(flag, value)}/stat` });
    const stat = await attempt(asked);
    return !stat.known && stat.error.failure === 'missing' ? missing('process') : undefined;
  }
  const path = pathIn(option);
  if (path === undefined) {
    return wrong('not a Unix socket; for example unix:///run/containerd/containerd.sock');
  }
  // The reader is another process, and has no such descriptor.
  if (OF_SHELL.test(path)) return wrong('a pipe of the shell cannot be used here; use a file');
  if (kind === 'state-folder') return stateFolderProblem(path, sight);
  const found = on === 'own' ? ownFile(path) : await whatIs(node, path);
  if (found === 'missing') {
    if (kind === 'socket') return folderProblem(path, node);
    const isElsewhere = flag === '--kubelet-root' && (await isInKubelet(path, sight));
    return isElsewhere ? undefined : missing(EXPECTED[kind].noun);
  }
  if (found === 'denied') return denied();
  if (found === 'unknown') return undefined;
  const { type, otherwise } = EXPECTED[kind];
  const isExecutable = (found.mode & 0o111) !== 0;
  if (found.type !== type || (kind === 'program' && !isExecutable)) return wrong(otherwise);
  return problemInside(kind, path, sight, node);
}

// /dev/fd/63, as bash calls <(command)
const OF_SHELL = /^\/(?:dev|proc\/self)\/fd\//;

const FOLDER = { noun: 'directory', type: 'folder', otherwise: 'not a directory' } as const;

/** What must be at a path. */
const EXPECTED = {
  file: { noun: 'file', type: 'file', otherwise: 'not a regular file' },
  program: { noun: 'file', type: 'file', otherwise: 'not an executable file' },
  socket: { noun: 'socket', type: 'socket', otherwise: 'not a socket' },
  folder: FOLDER,
  'host-root': FOLDER,
} as const;

function pathIn({ flag, names: kind, on, value }: NamedOption): string | undefined {
  if (kind === 'socket') return socketOf(value);
  const mustBeAbsolute = on === 'node' || kind === 'host-root' || kind === 'state-folder';
  return mustBeAbsolute ? absolute(flag, value) : resolve(value);
}

type Found = Pick<FileStatus, 'type' | 'mode'> | 'missing' | 'denied' | 'unknown';

/** Problems that only opening it shows. */
async function problemInside(
  kind: NamedKind,
  path: string,
  sight: Observation,
  node: LiveNode,
): Promise<Problem | undefined> {
  if (kind === 'host-root') {
    const uptime = await attempt(sight.node.ask('status', { path: '/proc/uptime' }));
    const isRoot = uptime.known || uptime.error.failure !== 'missing';
    return isRoot ? undefined : wrong('not the root of a node: no /proc is mounted in it');
  }
  if (kind !== 'file') return undefined;
  const end = { log: { file: path }, containing: ['kubediag'], lastBytes: 1 };
  const opened = await attempt(node.ask('log', end));
  return !opened.known && opened.error.failure === 'denied' ? denied() : undefined;
}

function denied(): Problem {
  return wrong(`permission denied${geteuid?.() === 0 ? '' : '; run kubediag as root (sudo)'}`);
}

/** For files that this process opens itself. */
function ownFile(path: string): Found {
  const { value: status, code = '' } = orCode(() => statSync(path));
  if (!status) return IS_GONE.has(code) ? 'missing' : IS_DENIED.has(code) ? 'denied' : 'unknown';
  const type = status.isDirectory() ? 'folder' : status.isFile() ? 'file' : 'other';
  return { type, mode: status.mode };
}

/** A path that does not answer counts as unknown: that may be a fault of the node. */
async function whatIs(node: LiveNode, path: string, view = ''): Promise<Found> {
  const status = await attempt(
    resolvePath(node, view, path).then((there) => node.ask('status', { path: `${view}${there}` })),
  );
  if (status.known) return status.value;
  const { failure } = status.error;
  return failure === 'missing' || failure === 'denied' ? failure : 'unknown';
}

/** The socket of a stopped runtime may be gone: that is a fault of the node, and is reported. */
async function folderProblem(path: string, node: LiveNode): Promise<Problem | undefined> {
  const isThere = (await whatIs(node, dirname(path))) !== 'missing';
  return isThere ? undefined : { why: `no such directory: ${dirname(path)}`, isMissing: true };
}

/** The root directory of a kubelet in a container may be visible only there. */
async function isInKubelet(path: string, { node, kubeletPid }: Observation): Promise<boolean> {
  const found = await attempt(findKubelet(takeSnapshot(node, { kubeletPid })));
  const pid = found.known ? found.value.process?.pid : undefined;
  return pid !== undefined && (await whatIs(node, path, `/proc/${pid}/root`)) !== 'missing';
}

/** It may be created later, but not below a file. */
function stateFolderProblem(path: string, { command }: Observation): Problem | undefined {
  let place = path;
  let found = ownFile(place);
  if (found === 'missing' && !BEFORE_STATE_FOLDER.has(command)) return missing('directory');
  while (found === 'missing' && place !== '/') {
    place = dirname(place);
    found = ownFile(place);
  }
  if (typeof found === 'string' || found.type === 'folder') return undefined;
  return wrong(place === path ? 'not a directory' : `${place} is not a directory`);
}
