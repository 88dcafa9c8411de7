import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { REACHED } from './copy.ts';
import type { TestAnswer, TestRequest } from './run-tests.ts';

const STAGES = [
  [0, 2],
  [2, 10],
  [10, 40],
  [40, Number.POSITIVE_INFINITY],
] as const;

/** A warm vitest in a child process, which is replaced when a mutant makes it hang. */
export class TestProcess {
  readonly #folder: string;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  constructor(folder: string, args: readonly string[]) {
    this.#folder = folder;
    this.#args = args;
  }

  async run(mutant: number, files: readonly string[], timeoutMs: number): Promise<TestAnswer> {
    const child = this.#child ?? (await this.#start());
    const request: TestRequest = { mutant, files };
    child.send(request);
    const signal = AbortSignal.timeout(timeoutMs);
    const [answer] = (await once(child, 'message', { signal })) as [TestAnswer];
    return answer;
  }

  /** The first test that fails; undefined when all pass. */
  async firstFailure(
    mutant: number,
    files: readonly string[],
    timeoutMs: number,
  ): Promise<string | undefined> {
    try {
      // A few at a time: vitest loads every file that it is given, also after a failure.
      for (const [from, to] of STAGES) {
        const some = files.slice(from, to);
        if (some.length === 0) return undefined;
        const { failures } = await this.run(mutant, some, timeoutMs);
        const first = failures.find(({ file }) => some.includes(file));
        if (first) return `${first.file}: ${first.test}`;
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
      this.stop();
      return `its time limit (${Math.round(timeoutMs / 1000)} s)`;
    }
  }

  /** With its workers, one of which may be in an endless loop. */
  stop(): void {
    const { pid } = this.#child ?? {};
    this.#child = undefined;
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(join(this.#folder, 'tools/mutate/run-tests.ts'), this.#args, {
      cwd: this.#folder,
      detached: true,
      env: { ...process.env, KUBEDIAG_MUTANTS_REACHED: join(this.#folder, REACHED) },
    });
    await once(child, 'message');
    this.#child = child;
    return child;
  }
}
