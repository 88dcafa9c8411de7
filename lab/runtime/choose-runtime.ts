import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SYSTEM_FOLDERS, systemProgram } from '../../src/lib/process/run.ts';
import { UsageError } from '../../src/lib/terminal/terminal.ts';
import { allProcesses } from '../process-mark.ts';
import { Refusal } from '../refusal.ts';
import type { RuntimeChoice } from '../settings.ts';
import { unlessGone } from '../unless-gone.ts';
import { CONFIG_BYTES_MAX } from './limits.ts';
import { WAITING_PROGRAM_FOR } from './waiting-program.ts';

export interface RuntimeOptions {
  readonly kind: 'auto' | 'containerd' | 'stand-in';
  /** The socket of a containerd: use the same program. */
  readonly endpoint?: string | undefined;
}

const WHAT = 'the practice node cannot have a real containerd';
const TODO =
  'install the packages containerd and runc, or say --runtime stand-in: then the lab brings a runtime ' +
  'of its own';

const NAME_SOCKET =
  'name the socket of a containerd of this machine, such as /run/containerd/containerd.sock, or leave ' +
  'out --runtime-endpoint';

/** The runtime of a new practice node. Throws a Refusal if a requested real one is not usable. */
export function chooseRuntime(
  { kind, endpoint }: RuntimeOptions,
  folders: readonly string[] = usualFolders(),
): RuntimeChoice {
  if (kind === 'stand-in') {
    if (endpoint === undefined) return { kind, why: 'it was asked for' };
    throw new UsageError(
      '--runtime stand-in and --runtime-endpoint ask for two different runtimes',
    );
  }
  const { found, why } = endpoint === undefined ? installed(folders) : serving(endpoint);
  const reason = why ?? whyNotHere();
  if (reason === undefined) return { kind: 'containerd', ...found };
  if (kind === 'containerd' || endpoint !== undefined) throw new Refusal(WHAT, reason, TODO);
  return { kind: 'stand-in', why: reason };
}

interface Search {
  readonly found: { readonly containerd: string; readonly runc: string };
  readonly why?: string;
}

function installed(folders: readonly string[]): Search {
  const find = (name: string) =>
    folders
      .map((folder) => join(folder, name))
      .find((file) => existsSync(file) && !isHiddenOnNodes(file));
  const [containerd = '', runc = ''] = ['containerd', 'runc'].map(find);
  const found = { containerd, runc };
  const own = Object.entries(found).flatMap(([name, file]) => (file === '' ? [name] : []));
  const missing = [...own, ...(containerd === '' ? [] : missingBeside(containerd))];
  if (missing.length === 0) return { found };
  const are = missing.length === 1 ? 'is' : 'are';
  return { found, why: `${missing.join(' and ')} ${are} not installed on this machine` };
}

/** A running containerd: only its programs are used, and nothing is sent to it. */
function serving(endpoint: string): Search {
  const found = containerdAt(endpoint);
  const missing = missingBeside(found.containerd);
  if (missing.length === 0) return { found };
  const { containerd } = found;
  return {
    found,
    why: `beside ${containerd}, which serves ${endpoint}, is no ${missing.join(', no ')}`,
  };
}

/** Every package has these programs in one directory, where containerd finds its shim. */
function missingBeside(containerd: string): readonly string[] {
  const beside = ['containerd-shim-runc-v2', 'ctr'];
  return beside.filter((name) => !existsSync(join(dirname(containerd), name)));
}

/** The directories of packages, and those of PATH. */
function usualFolders(): readonly string[] {
  const path = (process.env.PATH ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return [...SYSTEM_FOLDERS, ...path];
}

/** Why containerd cannot run on this machine, although it has the programs. */
function whyNotHere(): string | undefined {
  if (process.arch !== WAITING_PROGRAM_FOR) {
    return `the lab has a program for containers on ${WAITING_PROGRAM_FOR} only, and this is ${process.arch}`;
  }
  // cgroup2 /sys/fs/cgroup cgroup2 ro,nosuid,nodev,noexec,relatime 0 0
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const hierarchies = mounts
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2');
  if (hierarchies.length === 0) return 'runc needs cgroups, and none are mounted on this machine';
  const fixed = hierarchies.find(([, , , options = '']) => options.split(',').includes('ro'));
  return fixed && `runc needs cgroups of its own, and ${fixed[1]} is mounted read-only`;
}

/**
 * The containerd that listens on a socket: its program, and the runc that it starts. Found through
 * the socket tables of the kernel; nothing is sent to it.
 */
function containerdAt(endpoint: string): Search['found'] {
  const socket = endpoint.replace(/^unix:(\/\/)?/, '');
  const refuse = (why: string) =>
    new Refusal('the practice node cannot have the same runtime', why, NAME_SOCKET);
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
  return allProcesses().find((pid) => openedBy(pid).includes(`socket:[${inode}]`));
}

function openedBy(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  const files = unlessGone(() => readdirSync(folder)) ?? [];
  // A process may exit or close a file at any time.
  return files.flatMap((name) => unlessGone(() => readlinkSync(join(folder, name))) ?? []);
}

// BinaryName = "/usr/local/sbin/runc"
const BINARY_NAME = /^\s*BinaryName\s*=\s*"(\/[^"]+)"/m;

/** The runc of a containerd, from its configuration or its PATH. */
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

/** A practice node has its own directories in place of these: programs in them cannot run there. */
const HIDDEN = ['/tmp/', '/run/', '/dev/', '/boot/', '/var/lib/containerd/', '/var/lib/rancher/'];

export function isHiddenOnNodes(program: string): boolean {
  return HIDDEN.some((folder) => program.startsWith(folder));
}
