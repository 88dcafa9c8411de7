import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { REACHED } from './copy.ts';
import type { TestAnswer, TestRequest } from './run-tests.ts';

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

  /** The first test that fails, in words; undefined when all pass. */
  async firstFailure(
    mutant: number,
    files: readonly string[],
    timeoutMs: number,
  ): Promise<string | undefined> {
    try {
      const { failures } = await this.run(mutant, files, timeoutMs);
      const [first] = failures.filter(({ file }) => files.includes(file));
      return first && `${first.file}: ${first.test}`;
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error;
      this.stop();
      return `its time limit (${timeoutMs / 1000} s)`;
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
