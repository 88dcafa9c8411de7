import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemProgram } from '../../process/system-program.ts';
import { Refusal } from '../refusal.ts';
import { CONFIG_BYTES_MAX } from './limits.ts';

const WHAT = 'The practice node cannot have the same runtime';
const TODO =
  'name the socket of a containerd of this machine, such as /run/containerd/containerd.sock, or leave ' +
  'out --runtime-endpoint';

/**
 * The containerd that listens at a socket: its program, and the runc that it starts. It is told by what
 * the kernel says of the socket; nothing is sent to it.
 */
export function containerdAt(endpoint: string): {
  readonly program: string;
  readonly runc: string;
} {
  const socket = endpoint.replace(/^unix:(\/\/)?/, '');
  if (!existsSync(socket)) throw new Refusal(WHAT, `there is nothing at ${socket}`, TODO);
  const inode = listenerAt(realpathSync(socket));
  if (inode === undefined) throw new Refusal(WHAT, `nobody listens at ${socket}`, TODO);
  const pid = ownerOf(inode);
  if (pid === undefined) {
    const why = `the process that listens at ${socket} cannot be seen from here`;
    throw new Refusal(WHAT, why, `run this on the node itself, as root; or ${TODO}`);
  }
  const program = readlinkSync(`/proc/${pid}/exe`);
  if (basename(program) !== 'containerd') {
    const why = `${program} (pid ${pid}) serves ${socket}, and the lab can start no other than containerd`;
    throw new Refusal(WHAT, why, TODO);
  }
  if (!existsSync(program) || isHiddenOnNodes(program)) {
    const why = `its program ${program} cannot be reached from a practice node`;
    throw new Refusal(WHAT, why, TODO);
  }
  const runc = runcOf(pid);
  if (runc === undefined) {
    throw new Refusal(WHAT, `no runc is to be found for ${program} (pid ${pid})`, TODO);
  }
  return { program, runc };
}

// ffff8881: 00000002 00000000 00010000 0001 01 24731 /run/containerd/containerd.sock
const LISTENS = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.+)$/;

function listenerAt(socket: string): string | undefined {
  for (const line of readFileSync('/proc/net/unix', 'utf8').split('\n')) {
    const [, inode, path = ''] = LISTENS.exec(line) ?? [];
    // "/var/run/x.sock" may be the same as "/run/x.sock".
    if (path.startsWith('/') && existsSync(path) && realpathSync(path) === socket) return inode;
  }
  return undefined;
}

function ownerOf(inode: string): number | undefined {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
  return pids.find((pid) => linksOf(`/proc/${pid}/fd`).includes(`socket:[${inode}]`));
}

/** What a process has open; nothing of one that has ended since. */
function linksOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
  } catch {
    return [];
  }
}

/** A practice node has folders of its own for what passes away. */
function isHiddenOnNodes(program: string): boolean {
  return ['/tmp/', '/run/', '/dev/', '/var/lib/containerd/'].some((folder) =>
    program.startsWith(folder),
  );
}

// BinaryName = "/usr/local/sbin/runc"
const BINARY_NAME = /^\s*BinaryName\s*=\s*"(\/[^"]+)"/m;

/** As its configuration says, or as it finds it itself. */
function runcOf(pid: number): string | undefined {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const at = words.findIndex((word) => /^--?c(onfig)?$/.test(word));
  const config = (at >= 0 ? words[at + 1] : undefined) ?? '/etc/containerd/config.toml';
  const named = existsSync(config)
    ? BINARY_NAME.exec(readFileSync(config, 'utf8').slice(0, CONFIG_BYTES_MAX))?.[1]
    : undefined;
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  const path = environment.find((each) => each.startsWith('PATH='))?.slice('PATH='.length) ?? '';
  const candidates = [
    named,
    ...path.split(':').map((folder) => join(folder, 'runc')),
    systemProgram('runc'),
  ];
  return candidates.find(
    (file) => file?.startsWith('/') && existsSync(file) && !isHiddenOnNodes(file),
  );
}
