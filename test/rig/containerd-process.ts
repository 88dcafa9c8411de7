import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { removeCgroupTree } from '../../lab/cgroups.ts';
import { childOf, killIfThere } from '../../lab/process-mark.ts';
import { containerdConfig } from '../../lab/runtime/containerd-config.ts';
import { connectRuntime } from '../../src/lib/cri/client.ts';
import type { UnpackedPackages } from '../../tools/debian-packages.ts';
import { BUSYBOX_IMAGE } from './busybox-image.ts';
import type { PrivateNamespaces } from './private-namespaces.ts';

const run = promisify(execFile);
const CONFIG = 'config.toml';
const READY_MS = 30_000;
const END_MS = 5_000;
const CHECK_INTERVAL_MS = 50;

export interface ContainerdProcess {
  readonly socket: string;
  readonly pid: number;
  /** The parent cgroup for every pod, so that all can be found and removed. */
  readonly cgroup: string;
  /** Waits for a condition; rejects with the end of the log when it is late or containerd ended. */
  until(what: string, condition: () => Promise<boolean>): Promise<void>;
  /** Ends a pause that a test may have begun with SIGSTOP. */
  resume(): void;
  stop(): Promise<void>;
}

export async function startProcess(
  home: string,
  { root, environment }: UnpackedPackages,
  namespaces: PrivateNamespaces | undefined,
): Promise<ContainerdProcess> {
  const socket = join(home, 'c.sock');
  const config = join(home, CONFIG);
  const runc = join(root, 'usr/sbin/runc');
  await writeFile(config, containerdConfig({ home, socket, runc, sandboxImage: BUSYBOX_IMAGE }));
  const log = await open(join(home, 'containerd.log'), 'a');
  // "env" changes nothing: a command inside and one outside differ only in the words before it.
  const words = [...(namespaces?.enter ?? []), join(root, 'usr/bin/containerd'), '-c', config];
  const child = spawn('env', words, {
    // What it writes for a moment stays below its own directory too.
    env: { ...process.env, ...environment, TMPDIR: home },
    stdio: ['ignore', log.fd, log.fd],
  });
  await Promise.all([once(child, 'spawn'), log.close()]);
  const cgroup = `/kubediag-${basename(dirname(home))}`;
  const started = new Started({ home, socket, cgroup, child, namespaces });
  try {
    await started.until('containerd answers', () => answers(socket));
    await started.findPid();
  } catch (error) {
    await started.stop();
    throw error;
  }
  return started;
}

async function answers(socket: string): Promise<boolean> {
  const runtime = connectRuntime(socket, { limitMs: 1_000 });
  try {
    return await runtime.version().then(
      () => true,
      () => false,
    );
  } finally {
    runtime.close();
  }
}

class Started implements ContainerdProcess {
  readonly socket: string;
  readonly cgroup: string;
  pid: number;
  readonly #home: string;
  readonly #child: ChildProcess;
  readonly #namespaces: PrivateNamespaces | undefined;

  constructor(parts: {
    readonly home: string;
    readonly socket: string;
    readonly cgroup: string;
    readonly child: ChildProcess;
    readonly namespaces: PrivateNamespaces | undefined;
  }) {
    this.socket = parts.socket;
    this.cgroup = parts.cgroup;
    this.#home = parts.home;
    this.#child = parts.child;
    this.#namespaces = parts.namespaces;
    this.pid = parts.child.pid ?? 0;
  }

  /** Into namespaces goes a child of the program that enters them. */
  async findPid(): Promise<void> {
    if (this.#namespaces) this.pid = await childOf(this.#child.pid ?? 0);
  }

  async until(what: string, condition: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + READY_MS;
    while (!(await condition())) {
      if (this.#hasEnded() || Date.now() > deadline) {
        const log = await readFile(join(this.#home, 'containerd.log'), 'utf8');
        throw new Error(`waited in vain until ${what}: ${log.split('\n').slice(-8).join('\n')}`);
      }
      await sleep(CHECK_INTERVAL_MS);
    }
  }

  resume(): void {
    if (this.#hasEnded()) return;
    killIfThere(this.pid, 'SIGCONT');
    // nsenter stops itself when its child is stopped, and would never see the child end.
    this.#child.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded()) {
      const exit = once(this.#child, 'exit');
      killIfThere(this.pid, 'SIGTERM');
      await Promise.race([exit, sleep(END_MS, undefined, { ref: false })]);
      if (!this.#hasEnded()) killIfThere(this.pid);
      await exit;
    }
    for (const pid of await this.#leftOver()) killIfThere(pid);
    await removeCgroupTree(this.cgroup);
    await this.#unmountAll();
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /**
   * Shims outlive containerd on purpose, and containerd outlives the program that entered the
   * namespaces for it. Both are recognised by our own paths on their command line.
   */
  async #leftOver(): Promise<number[]> {
    const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
    const found = await Promise.all(
      pids.map(async (pid) => {
        const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        const isOurs = [`-address\0${this.socket}\0`, `-c\0${join(this.#home, CONFIG)}\0`].some(
          (part) => words.includes(part),
        );
        return isOurs ? [pid] : [];
      }),
    );
    return found.flat();
  }

  async #unmountAll(): Promise<void> {
    const table = `/proc/${this.#namespaces?.pid ?? 'self'}/mountinfo`;
    // Namespaces that ended took their mounts with them.
    const text = await readFile(table, 'utf8').catch(() => '');
    const targets = text.split('\n').map((line) => line.split(' ')[4] ?? '');
    const ours = targets.filter((path) => path.startsWith(`${this.#home}/`));
    for (const target of ours.toReversed()) {
      await run('env', [...(this.#namespaces?.enter ?? []), 'umount', '-l', target]);
    }
  }
}
