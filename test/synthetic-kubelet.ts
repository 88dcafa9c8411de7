import type { FileStatus } from '../src/node/model/node-reader.ts';
import type { NodeMaker } from './synthetic-node.ts';

const FOLDER: FileStatus = {
  type: 'folder',
  mode: 0o755,
  owner: 0,
  device: '254:1',
  inode: '2',
  links: 2,
  sizeBytes: 4096,
  modifiedMs: 0,
};

export interface SyntheticKubeletProcess {
  readonly pid?: number;
  readonly comm?: string;
  readonly words?: readonly string[];
  readonly user?: number;
  readonly parent?: number;
  readonly cgroup?: string;
  /** Its ids from the node's PID namespace inwards; null for a kernel that does not report them. */
  readonly namespaceIds?: readonly number[] | null;
  readonly pidNamespace?: string;
  readonly executable?: string;
}

/** One process in /proc, by default a kubelet started by systemd. */
export function makeProcess(maker: NodeMaker, fixture: SyntheticKubeletProcess = {}): NodeMaker {
  const { pid = 812, comm = 'kubelet', user = 0, parent = 1 } = fixture;
  const folder = `/proc/${pid}`;
  const ids = fixture.namespaceIds === undefined ? [pid] : fixture.namespaceIds;
  const words = fixture.words ?? [`/usr/bin/${comm}`];
  return maker
    .file(`${folder}/comm`, `${comm}\n`)
    .file(`${folder}/cmdline`, words.map((word) => `${word}\0`).join(''))
    .file(
      `${folder}/status`,
      [
        ...[`Name:\t${comm}`, `Pid:\t${pid}`, `PPid:\t${parent}`],
        `Uid:\t${user}\t${user}\t${user}\t${user}`,
        ...(ids ? [`NSpid:\t${ids.join('\t')}`] : []),
        '',
      ].join('\n'),
    )
    .file(`${folder}/cgroup`, `0::${fixture.cgroup ?? '/system.slice/kubelet.service'}\n`)
    .link(`${folder}/ns/pid`, fixture.pidNamespace ?? 'pid:[4026531836]')
    .link(`${folder}/ns/mnt`, 'mnt:[4026531841]')
    .link(`${folder}/cwd`, '/')
    .link(`${folder}/exe`, fixture.executable ?? `/usr/bin/${comm}`)
    .file(
      `${folder}/stat`,
      `${pid} (${comm}) S 1 ${pid} ${pid} 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 14 0 1532 1936203776 1\n`,
    );
}

/** The processes of a node: the first one, and whichever else were made. */
export function makeProc(maker: NodeMaker, pids: readonly number[]): NodeMaker {
  return maker
    .folder('/proc', ['cpuinfo', '1', ...pids.map(String), 'sys'])
    .file('/proc/1/comm', 'systemd\n')
    .link('/proc/1/ns/pid', 'pid:[4026531836]')
    .file('/proc/sys/kernel/hostname', 'Worker-7\n');
}

/** A directory and all above it, as a process sees them ("/proc/812/root"), or the node ("") does. */
export function makeFolder(
  maker: NodeMaker,
  view: string,
  path: string,
  status: Partial<FileStatus> = {},
): NodeMaker {
  const parts = path.split('/').filter(Boolean);
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const here = `${view}/${parts.slice(0, depth).join('/')}`;
    const own = depth === parts.length ? status : {};
    maker.set('status', { path: here }, { answer: { ...FOLDER, ...own } });
  }
  return maker;
}

export function makeLink(maker: NodeMaker, view: string, path: string, target: string): NodeMaker {
  makeFolder(maker, view, path, { type: 'link', mode: 0o777 });
  return maker.link(`${view}${path}`, target);
}
