import { existsSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RuntimeCommands } from '../cri/commands.ts';
import type { RuntimeCallError } from '../cri/runtime-call-error.ts';
import { pathInRoot } from '../node/path-in-root.ts';
import { type ProgramResult, runProgram } from '../process/run.ts';
import { messageOf } from '../std/message-of.ts';
import {
  helpMs,
  PROGRAM_OUTPUT_BYTES_MAX,
  REMOVER_OUTPUT_BYTES_MAX,
  removeFoldersMs,
  unmountMs,
} from './limits.ts';
import type { Deed, NodeWriter } from './node-writer.ts';
import { type Removal, type RemovalJob, removedIn } from './removal.ts';

/** Programs are taken from here and nowhere else: PATH belongs to whoever started us. */
const PROGRAM_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** The words that start a program where it must act, or why there are none. */
type Way =
  | { readonly isOpen: true; readonly words: readonly string[] }
  | { readonly isOpen: false; readonly why: string };

/** A program that removes folders and can be left behind when it hangs. */
export interface RemoverCommand {
  readonly program: string;
  readonly arguments: readonly string[];
}

/** Changes the node we run on, or whose root we see at `hostRoot`. */
export class LiveWriter implements NodeWriter {
  readonly #hostRoot: string;
  readonly #remover: RemoverCommand | undefined;

  constructor({
    hostRoot = '/',
    remover,
  }: { readonly hostRoot?: string; readonly remover?: RemoverCommand } = {}) {
    this.#hostRoot = hostRoot;
    this.#remover = remover;
  }

  async cannotUnmount(namespaceOf: number): Promise<string | undefined> {
    const way = await this.#wayTo(namespaceOf);
    return way.isOpen ? undefined : way.why;
  }

  async unmount(target: string, namespaceOf: number): Promise<Deed> {
    const way = await this.#wayTo(namespaceOf);
    if (!way.isOpen) return { state: 'failed', why: way.why };
    return deedOf(await run([...way.words, '--no-canonicalize', target], unmountMs));
  }

  async forceUnmount(target: string, namespaceOf: number): Promise<Deed> {
    const way = await this.#wayTo(namespaceOf);
    if (!way.isOpen) return { state: 'failed', why: way.why };
    // Without -i it would first ask the filesystem's own helper, which may ask the dead server.
    return deedOf(await run([...way.words, '-f', '-i', '--no-canonicalize', target], unmountMs));
  }

  async abortFuse(connection: string, namespaceOf: number): Promise<Deed> {
    const path = join(this.#hostRoot, 'proc', String(namespaceOf), 'root', connection, 'abort');
    try {
      writeFileSync(path, '1');
      return { state: 'did' };
    } catch (error) {
      return { state: 'failed', why: messageOf(error) };
    }
  }

  cannotRemoveFolders(): string | undefined {
    if (process.geteuid?.() !== 0) return 'only root may remove them: run it with sudo';
    return this.#remover ? undefined : 'this host has no program for it';
  }

  async removeFolders(job: RemovalJob): Promise<Removal> {
    if (!this.#remover) return { removed: new Map(), broken: 'there is no remover' };
    const view = join(this.#hostRoot, job.view);
    const result = await runProgram({
      ...this.#remover,
      input: JSON.stringify({ ...job, view }),
      deadlineMs: removeFoldersMs,
      outputBytesMax: REMOVER_OUTPUT_BYTES_MAX,
    });
    if (result.ended === 'not-started') return { removed: new Map(), broken: result.why };
    const removed = removedIn(result.stdout);
    if (result.ended === 'exit' && result.code === 0) return { removed };
    if (result.ended === 'deadline' && result.abandoned) {
      const broken = `rmdir waits in the kernel and cannot be ended: process ${result.abandoned.pid}`;
      return { removed, broken, isUnending: true };
    }
    const [said = ''] = result.stderr.split('\n').filter((line) => line.includes('Error: '));
    return { removed, broken: `the remover broke off: ${said.trim() || result.ended}` };
  }

  async removeEmptyFolder(path: string, namespaceOf: number): Promise<Deed> {
    return this.#change(namespaceOf, 'rmdir', '--', path);
  }

  async setAside(from: string, to: string, pid: number, isKept: boolean): Promise<Deed> {
    if (!isKept) {
      const made = await this.#change(pid, 'mkdir', '-p', '-m', '700', '--', dirname(to));
      if (made.state !== 'did') return made;
      const linked = await this.#change(pid, 'ln', '-T', '--', from, to);
      if (linked.state !== 'did') return linked;
    }
    return this.#change(pid, 'unlink', '--', from);
  }

  async #change(namespaceOf: number, name: string, ...words: readonly string[]): Promise<Deed> {
    if (process.geteuid?.() !== 0) return { state: 'failed', why: 'only root may do this' };
    const enter = this.#enter(namespaceOf);
    if (!enter.isOpen) return { state: 'failed', why: enter.why };
    const folder = PROGRAM_FOLDERS.find((one) => existsSync(join(one, name)));
    if (folder === undefined) return { state: 'failed', why: `there is no ${name} here` };
    return deedOf(await run([...enter.words, join(folder, name), ...words], unmountMs), name);
  }

  cannotCommand(): string | undefined {
    return process.geteuid?.() === 0 ? undefined : 'only root may do that: run it with sudo';
  }

  async removeContainer(socket: string, id: string): Promise<Deed> {
    return this.#command(socket, [(runtime) => runtime.removeContainer(id)]);
  }

  async removeSandbox(socket: string, id: string): Promise<Deed> {
    return this.#command(socket, [
      (runtime) => runtime.stopPodSandbox(id),
      (runtime) => runtime.removePodSandbox(id),
    ]);
  }

  async makeLink(path: '/bin', target: 'usr/bin'): Promise<Deed> {
    try {
      // No program and no shell: those that are usual for it are behind the link that is gone.
      symlinkSync(target, join(this.#hostRoot, path));
      return { state: 'did' };
    } catch (error) {
      return { state: 'failed', why: messageOf(error) };
    }
  }

  /** One call after the other. What is gone already is as it should be. */
  async #command(
    socket: string,
    calls: readonly ((runtime: RuntimeCommands) => Promise<void>)[],
  ): Promise<Deed> {
    // Loaded when it is needed: gRPC takes a while, and most repairs do without.
    const { commandRuntime } = await import('../cri/commands.ts');
    let runtime: RuntimeCommands | undefined;
    try {
      const path = pathInRoot(this.#hostRoot, socket, 'follow').toString('utf8');
      runtime = commandRuntime(path);
      for (const call of calls) await unlessGone(call(runtime));
      return { state: 'did' };
    } catch (error) {
      const { failure } = error as Partial<RuntimeCallError>;
      return { state: failure === 'timeout' ? 'unending' : 'failed', why: messageOf(error) };
    } finally {
      runtime?.close();
    }
  }

  async #wayTo(namespaceOf: number): Promise<Way> {
    if (process.geteuid?.() !== 0) return closed('only root may unmount: run it with sudo');
    const enter = this.#enter(namespaceOf);
    return enter.isOpen ? umountBehind(enter.words) : enter;
  }

  /** No words when we are in that namespace already, else those of nsenter. */
  #enter(pid: number): Way {
    const theirs = join(this.#hostRoot, 'proc', String(pid));
    try {
      if (isOurView(theirs)) return { isOpen: true, words: [] };
    } catch (error) {
      return closed(`the mount namespace of process ${pid} cannot be seen: ${messageOf(error)}`);
    }
    const folder = PROGRAM_FOLDERS.find((one) => existsSync(join(one, 'nsenter')));
    if (!folder)
      return closed(`process ${pid} has mounts of its own, and there is no nsenter here`);
    return { isOpen: true, words: [join(folder, 'nsenter'), `--mount=${theirs}/ns/mnt`, '--'] };
  }
}

async function unlessGone(call: Promise<void>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if ((error as Partial<RuntimeCallError>).failure !== 'missing') throw error;
  }
}

function closed(why: string): Way {
  return { isOpen: false, why };
}

/** The same mounts, seen from the same root: else a path of theirs is not that path for us. */
function isOurView(theirs: string): boolean {
  if (readlinkSync(join(theirs, 'ns/mnt')) !== readlinkSync('/proc/self/ns/mnt')) return false;
  const [their, our] = [statSync(join(theirs, 'root/')), statSync('/')];
  return their.dev === our.dev && their.ino === our.ino;
}

/** Finds an umount in that namespace that takes a path as it is, before anything is changed. */
async function umountBehind(enter: readonly string[]): Promise<Way> {
  let why = 'there is none';
  for (const folder of PROGRAM_FOLDERS) {
    const umount = join(folder, 'umount');
    const words = [...enter, umount];
    const help = await run([...words, '--help'], helpMs);
    const text = help.ended === 'not-started' ? '' : help.stdout + help.stderr;
    if (text.includes('--no-canonicalize')) return { isOpen: true, words };
    // BusyBox v1.35.0 (Debian 1:1.35.0-4+b3) multi-call binary.
    if (text.includes('BusyBox')) why = `${umount} is BusyBox's, which has no --no-canonicalize`;
    else if (help.ended === 'deadline') why = `${umount} did not answer`;
  }
  return closed(`no umount of util-linux in ${PROGRAM_FOLDERS.join(', ')}: ${why}`);
}

function run([program = '', ...words]: readonly string[], deadlineMs: number) {
  const limits = { deadlineMs, outputBytesMax: PROGRAM_OUTPUT_BYTES_MAX };
  return runProgram({ program, arguments: words, ...limits });
}

// umount: /var/lib/kubelet/pods/6f1c/volume-subpaths/settings/web/1: target is busy.
// umount: /mnt: device is busy. (util-linux before 2.23)
const BUSY = /: (?:target|device) is busy/;

function deedOf(result: ProgramResult, name = 'umount'): Deed {
  if (result.ended === 'not-started') return { state: 'failed', why: result.why };
  const said = result.stderr.trim() || 'it said nothing';
  if (result.ended === 'exit' && result.code === 0) return { state: 'did' };
  if (result.ended === 'exit' && BUSY.test(said)) return { state: 'busy', why: said };
  if (result.ended === 'deadline' && result.abandoned) {
    const why = `${name} waits in the kernel and cannot be ended: process ${result.abandoned.pid}`;
    return { state: 'unending', why };
  }
  const end = { exit: 'ended', signal: 'was killed', deadline: 'took too long' }[result.ended];
  return { state: 'failed', why: `${name} ${end}: ${said}` };
}
