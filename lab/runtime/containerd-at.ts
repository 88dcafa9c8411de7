import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemProgram } from '../../src/lib/process/system-program.ts';
import { Refusal } from '../refusal.ts';
import { isHiddenOnNodes } from './hidden-on-nodes.ts';
import { CONFIG_BYTES_MAX } from './limits.ts';

const WHAT = 'the practice node cannot have the same runtime';
const TODO =
  'name the socket of a containerd of this machine, such as /run/containerd/containerd.sock, or leave ' +
  'out --runtime-endpoint';

export interface FoundContainerd {
  readonly containerd: string;
  readonly runc: string;
}

/**
 * The containerd that listens on a socket: its program, and the runc that it starts. Found through the
 * socket tables of the kernel; nothing is sent to it.
 */
export function containerdAt(endpoint: string): FoundContainerd {
  const socket = endpoint.replace(/^unix:(\/\/)?/, '');
  const refuse = (why: string) => new Refusal(WHAT, why, TODO);
  if (!existsSync(socket)) throw refuse(`there is nothing at ${socket}`);
  const inode = listenerAt(realpathSync(socket));
  if (inode === undefined) throw refuse(`nothing listens at ${socket}`);
  const pid = ownerOf(inode);
  if (pid === undefined) throw refuse(`who listens at ${socket} cannot be seen from here`);
  const containerd = readlinkSync(`/proc/${pid}/exe`);
  const reported = `${containerd} (pid ${pid}) serves ${socket}`;
  if (basename(containerd) !== 'containerd') {
    throw refuse(`${reported}, and the lab can start no other than containerd`);
  }
  if (!existsSync(containerd) || isHiddenOnNodes(containerd)) {
    throw refuse(`${reported}, and that program cannot be reached from a practice node`);
  }
  const runc = runcOf(pid);
  if (runc === undefined) throw refuse(`${reported}, and its runc is not to be found`);
  return { containerd, runc };
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
  return pids.find((pid) => openedBy(pid).includes(`socket:[${inode}]`));
}

function openedBy(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return unlessGone(() => readdirSync(folder)).flatMap((name) =>
    unlessGone(() => [readlinkSync(join(folder, name))]),
  );
}

/** Processes may end, and close files, meanwhile. */
function unlessGone(snapshot: () => readonly string[]): readonly string[] {
  try {
    return snapshot();
  } catch {
    return [];
  }
}

// BinaryName = "/usr/local/sbin/runc"
const BINARY_NAME = /^\s*BinaryName\s*=\s*"(\/[^"]+)"/m;

/** From its configuration, or from its PATH. */
function runcOf(pid: number): string | undefined {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const at = words.findIndex((word) => /^--?c(onfig)?$/.test(word));
  const named = at < 0 ? undefined : words[at + 1];
  const config = `/proc/${pid}/root${named ?? '/etc/containerd/config.toml'}`;
  const text = existsSync(config) ? readFileSync(config, 'utf8').slice(0, CONFIG_BYTES_MAX) : '';
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  const path = environment.find((each) => each.startsWith('PATH='))?.slice('PATH='.length) ?? '';
  const candidates = [
    BINARY_NAME.exec(text)?.[1],
    ...path.split(':').map((folder) => join(folder, 'runc')),
    systemProgram('runc'),
  ];
  return candidates.find(
    (file) => file?.startsWith('/') && existsSync(file) && !isHiddenOnNodes(file),
  );
}
