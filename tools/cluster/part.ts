import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childOf, killIfThere } from '../../lab/process-mark.ts';

const END_MS = 10_000;
const LOG_LINES = 12;

/** How one program of the cluster is started. */
export interface PartPlan {
  readonly name: string;
  readonly program: string;
  readonly words: readonly string[];
  /** Directories of the cgroup it goes into. */
  readonly cgroup?: readonly string[];
}

/** Where parts are started. */
export interface Place {
  /** The words that stand before a command to run it inside. */
  readonly enter: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Logs and working directories. */
  readonly folder: string;
}

// Entering the namespaces ends in their "/", and a kubelet may delete what is in its working directory.
const LAUNCH = `
  cd "$1" || exit 1
  for folder in $2; do echo 0 >"$folder/cgroup.procs" || exit 1; done
  shift 2
  exec "$@"`;

/** One program of the cluster, which can be stopped and started again. */
export class Part {
  readonly name: string;
  readonly log: string;
  /** As the caller sees it; 0 while it does not run. */
  pid = 0;
  readonly #plan: PartPlan;
  readonly #place: Place;
  #child: ChildProcess | undefined;
  #wanted = false;

  constructor(plan: PartPlan, place: Place) {
    this.name = plan.name;
    this.log = join(place.folder, `${plan.name}.log`);
    this.#plan = plan;
    this.#place = place;
  }

  async start(): Promise<void> {
    const { program, words, cgroup = [] } = this.#plan;
    const { enter, environment, folder } = this.#place;
    const work = join(folder, `${this.name}.work`);
    await mkdir(work, { recursive: true });
    const log = await open(this.log, 'a');
    const launch = ['sh', '-c', LAUNCH, 'sh', work, cgroup.join(' '), program, ...words];
    // It starts with less garbage collection; the kubelet runs as on any node.
    const goSettings = this.name === 'kubelet' ? {} : { GOGC: '400' };
    const child = spawn('env', [...enter, ...launch], {
      env: { ...environment, ...goSettings },
      stdio: ['ignore', log.fd, log.fd],
    });
    child.once('exit', () => {
      this.pid = 0;
    });
    this.#child = child;
    this.#wanted = true;
    await Promise.all([once(child, 'spawn'), log.close()]);
    this.pid = await this.#findPid(child.pid ?? 0);
  }

  /** Entering takes a moment; then the program is the only child of the one that entered. */
  async #findPid(entering: number): Promise<number> {
    for (;;) {
      if (this.#hasEnded())
        throw new Error(`${this.name} did not start: ${await this.lastLines()}`);
      const pid = await childOf(entering).catch(() => 0);
      if (pid > 0) return pid;
      await sleep(10);
    }
  }

  /** Holds it where it is, as a machine that stalls would. */
  pause(): void {
    killIfThere(this.pid, 'SIGSTOP');
  }

  /** Resumes it. nsenter, which pauses with it, needs the signal too. */
  resume(): void {
    killIfThere(this.pid, 'SIGCONT');
    this.#child?.kill('SIGCONT');
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#wanted = false;
    const child = this.#child;
    if (!child || this.#hasEnded()) return;
    const exit = once(child, 'exit');
    const pid = this.pid;
    const endsWithin = (limitMs: number) =>
      Promise.race([exit, sleep(limitMs, undefined, { ref: false })]);
    killIfThere(pid, signal);
    // One that was paused hears no signal; nsenter, which pauses with it, would not see it end.
    this.resume();
    await endsWithin(END_MS);
    if (this.#hasEnded()) return;
    killIfThere(pid);
    child.kill('SIGCONT');
    await endsWithin(END_MS);
    if (!this.#hasEnded()) throw new Error(`${this.name} (process ${pid}) does not end`);
  }

  /** Ended by itself, though nobody asked it to. */
  hasFailed(): boolean {
    return this.#wanted && this.#hasEnded();
  }

  async lastLines(): Promise<string> {
    const text = await readFile(this.log, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-LOG_LINES).join('\n');
  }

  #hasEnded(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null;
  }
}
