import { symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RuntimeCommands } from '../../lib/cri/commands.ts';
import type { RuntimeCallError } from '../../lib/cri/runtime-call-error.ts';
import {
  type Program,
  type ProgramResult,
  packagedProgram,
  packagedPrograms,
  runProgram,
} from '../../lib/process/run.ts';
import type { Tried } from '../../lib/state/state-folder.ts';
import { messageOf } from '../../lib/std/message-of.ts';
import { pathInRoot } from '../reader/path-in-root.ts';
import type { OwnCommand } from '../reader/reader-process.ts';
import {
  type HeldProcess,
  holdProcess,
  letGo,
  pathIn,
  THEIR_ROOT,
  whyNotSame,
} from './held-process.ts';
import {
  helpMs,
  PROGRAM_OUTPUT_BYTES_MAX,
  REMOVER_OUTPUT_BYTES_MAX,
  removeFoldersMs,
  unmountMs,
} from './limits.ts';
import type { MountPins, NodeWriter, ProcessPins, WriteResult } from './node-writer.ts';
import { type Removal, type RemovalJob, removedIn } from './removal.ts';
import { changeOf, unmountResult, watchMount } from './watched-unmount.ts';

type Words = readonly string[];

/** Changes the node we run on, or whose root we see at `hostRoot`. */
export class LiveWriter implements NodeWriter {
  readonly #hostRoot: string;
  readonly #remover: OwnCommand | undefined;
  #held: HeldProcess | undefined;
  /** The words that start an unmount in its namespace, once they were looked for. */
  #umount: Tried<Words> | undefined;

  constructor({
    hostRoot = '/',
    remover,
  }: { readonly hostRoot?: string; readonly remover?: OwnCommand } = {}) {
    this.#hostRoot = hostRoot;
    this.#remover = remover;
  }

  async cannotUnmount(process: ProcessPins): Promise<string | undefined> {
    const held = this.#hold(process);
    if (!held.ok) return held.why;
    this.#umount ??= await umountBehind(held.value);
    return this.#umount.ok ? undefined : this.#umount.why;
  }

  release(): void {
    if (this.#held) letGo(this.#held);
    this.#held = undefined;
    this.#umount = undefined;
  }

  async unmount(mount: MountPins, process: ProcessPins): Promise<WriteResult> {
    return this.#unmount(mount, process, ['--no-canonicalize']);
  }

  async forceUnmount(mount: MountPins, process: ProcessPins): Promise<WriteResult> {
    // Without -i it would first ask the filesystem's own helper, which may ask the dead server.
    return this.#unmount(mount, process, ['-f', '-i', '--no-canonicalize']);
  }

  async abortFuse(
    connection: string,
    mount: MountPins,
    process: ProcessPins,
  ): Promise<WriteResult> {
    const held = this.#hold(process);
    if (!held.ok) return { state: 'failed', why: held.why };
    const file = `/proc/self/fd/${held.value.root}${connection}/abort`;
    return (await changeOf(mount, held.value)) ?? didOrFailed(() => writeFileSync(file, '1'));
  }

  cannotRemoveFolders(): string | undefined {
    if (process.geteuid?.() !== 0) return 'only root may remove them: run it with sudo';
    return this.#remover ? undefined : 'this host has no program for it';
  }

  async removeFolders(job: RemovalJob, process: ProcessPins): Promise<Removal> {
    if (!this.#remover) return { removed: new Map(), broken: 'there is no remover' };
    const held = this.#hold(process);
    const why = held.ok ? whyNotSame(held.value) : held.why;
    if (!held.ok || why !== undefined) return { removed: new Map(), broken: why ?? '' };
    const result = await runProgram({
      ...this.#remover,
      input: JSON.stringify(job),
      files: [held.value.root],
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

  async removeEmptyFolder(path: string, process: ProcessPins): Promise<WriteResult> {
    return this.#change(process, 'rmdir', ['--'], path);
  }

  async linkFile(from: string, to: string, process: ProcessPins): Promise<WriteResult> {
    const created = await this.#change(process, 'mkdir', ['-p', '-m', '700', '--'], dirname(to));
    return created.state === 'did' ? this.#change(process, 'ln', ['-T', '--'], from, to) : created;
  }

  async unlinkFile(path: string, process: ProcessPins): Promise<WriteResult> {
    return this.#change(process, 'unlink', ['--'], path);
  }

  async #change(
    process: ProcessPins,
    name: string,
    args: readonly string[],
    ...paths: readonly string[]
  ): Promise<WriteResult> {
    const held = this.#hold(process);
    if (!held.ok) return { state: 'failed', why: held.why };
    const [enter, program] = [enterArguments(held.value), packagedProgram(name)];
    if (!enter.ok) return { state: 'failed', why: enter.why };
    if (!program.ok) return { state: 'failed', why: program.why };
    const why = whyNotSame(held.value);
    if (why !== undefined) return { state: 'failed', why };
    const theirs = paths.map((path) => pathIn(held.value, path));
    const all = [...enter.value, program.value, ...args, ...theirs];
    return writeResultOf(await run(all, held.value), name);
  }

  cannotCommand(): string | undefined {
    return process.geteuid?.() === 0 ? undefined : 'only root may do that: run it with sudo';
  }

  async removeContainer(socket: string, id: string): Promise<WriteResult> {
    return this.#command(socket, (runtime) => runtime.removeContainer(id));
  }

  async removeSandbox(socket: string, id: string): Promise<WriteResult> {
    return this.#command(
      socket,
      (runtime) => runtime.stopPodSandbox(id),
      (runtime) => runtime.removePodSandbox(id),
    );
  }

  async makeLink(path: '/bin', target: 'usr/bin'): Promise<WriteResult> {
    // No program and no shell: those that are usual for it are behind the link that is gone.
    return didOrFailed(() => symlinkSync(target, join(this.#hostRoot, path)));
  }

  /** One call after the other. What is gone already is as it should be. */
  async #command(
    socket: string,
    ...calls: readonly ((runtime: RuntimeCommands) => Promise<void>)[]
  ): Promise<WriteResult> {
    // Loaded when it is needed: gRPC takes a while, and most repairs do without.
    const { commandRuntime } = await import('../../lib/cri/commands.ts');
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

  /**
   * Nothing slow lies between the last read of the mount table and the unmount: the programs are
   * found before, and were run once. The table is watched while umount starts, and compared when it
   * has ended, for the kernel unmounts whatever is at the path by then.
   */
  async #unmount(
    mount: MountPins,
    process: ProcessPins,
    args: readonly string[],
  ): Promise<WriteResult> {
    const why = await this.cannotUnmount(process);
    const [held, umount] = [this.#held, this.#umount];
    if (why !== undefined || !held || !umount?.ok) {
      return { state: 'changed', what: 'we cannot unmount here any more', why: why ?? '' };
    }
    const changed = await changeOf(mount, held);
    if (changed) return changed;
    const stop = new AbortController();
    const limits = { deadlineMs: unmountMs, stop: stop.signal };
    const running = run([...umount.value, ...args, pathIn(held, mount.target)], held, limits);
    const seen = await watchMount(mount, held, running, () => stop.abort());
    return unmountResult(mount, held, writeResultOf(await running), seen);
  }

  /** Held from its first use on, until it is released. */
  #hold(pins: ProcessPins): Tried<HeldProcess> {
    if (process.geteuid?.() !== 0) return closed('only root may do this: run it with sudo');
    if (this.#held?.pid === pins.pid) return { ok: true, value: this.#held };
    this.release();
    const held = holdProcess(join(this.#hostRoot, 'proc', String(pins.pid)), pins);
    if (held.ok) this.#held = held.value;
    return held;
  }
}

function didOrFailed(act: () => void): WriteResult {
  try {
    act();
    return { state: 'did' };
  } catch (error) {
    return { state: 'failed', why: messageOf(error) };
  }
}

async function unlessGone(call: Promise<void>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if ((error as Partial<RuntimeCallError>).failure !== 'missing') throw error;
  }
}

function closed(why: string): { readonly ok: false; readonly why: string } {
  return { ok: false, why };
}

/**
 * No words when its paths are ours, else those of nsenter: into its mount namespace, but with our
 * own root directory, so that the program, its linker and its libraries are ours.
 */
function enterArguments({ pid, isOurView }: HeldProcess): Tried<Words> {
  if (isOurView) return { ok: true, value: [] };
  const nsenter = packagedProgram('nsenter');
  if (!nsenter.ok) return closed(`process ${pid} has mounts of its own: ${nsenter.why}`);
  return { ok: true, value: [nsenter.value, '--mount=/proc/self/fd/3', '--root=/', '--'] };
}

/** Finds an umount that takes a path as it is, and runs it once, before anything is changed. */
async function umountBehind(held: HeldProcess): Promise<Tried<Words>> {
  const enter = enterArguments(held);
  if (!enter.ok) return enter;
  let why = '';
  for (const program of packagedPrograms('umount')) {
    if (!program.ok) return program;
    const umount = program.value;
    const args = [...enter.value, umount];
    const help = await run([...args, '--help'], held, { deadlineMs: helpMs });
    const text = help.ended === 'not-started' ? '' : help.stdout + help.stderr;
    if (text.includes('--no-canonicalize')) {
      // What it may have to write down of its mounts is not in a file of ours.
      return { ok: true, value: held.isOurView ? args : [...args, '--no-mtab'] };
    }
    // BusyBox v1.35.0 (Debian 1:1.35.0-4+b3) multi-call binary.
    if (text.includes('BusyBox')) why = `${umount} is BusyBox's, which has no --no-canonicalize`;
    else if (help.ended === 'deadline') why = `${umount} did not answer`;
    else why = text.trim();
  }
  return closed(`no umount of util-linux here: ${why}`);
}

function run(
  [program = '', ...args]: Words,
  { isOurView, namespace, root }: HeldProcess,
  limits: Pick<Program, 'deadlineMs' | 'stop'> = { deadlineMs: unmountMs },
) {
  const files = isOurView ? [] : [namespace, root];
  const outputBytesMax = PROGRAM_OUTPUT_BYTES_MAX;
  return runProgram({ program, arguments: args, files, outputBytesMax, ...limits });
}

// umount: /var/lib/kubelet/pods/6f1c/volume-subpaths/settings/web/1: target is busy.
// umount: /mnt: device is busy. (util-linux before 2.23)
const BUSY = /: (?:target|device) is busy/;

function writeResultOf(result: ProgramResult, name = 'umount'): WriteResult {
  if (result.ended === 'not-started') return { state: 'failed', why: result.why };
  const said = result.stderr.replaceAll(THEIR_ROOT, '').trim() || 'it said nothing';
  if (result.ended === 'exit' && result.code === 0) return { state: 'did' };
  if (result.ended === 'exit' && BUSY.test(said)) return { state: 'busy', why: said };
  if (result.ended === 'deadline' && result.abandoned) {
    const why = `${name} waits in the kernel and cannot be ended: process ${result.abandoned.pid}`;
    return { state: 'unending', why };
  }
  const end = { exit: 'ended', signal: 'was killed', deadline: 'took too long' }[result.ended];
  return { state: 'failed', why: `${name} ${end}: ${said}` };
}
