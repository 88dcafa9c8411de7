import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Mutant, withMutants } from './mutants.ts';

export interface Copy {
  readonly folder: string;
  /** Which mutants the tests of a file have reached. */
  reached(): ReadonlyMap<string, ReadonlySet<number>>;
  remove(): void;
}

interface ReachedLine {
  readonly file: string;
  readonly reached: readonly number[];
}

/** Where tests note what they reached: in the copy, for it goes with it. */
export const REACHED = 'mutants-reached.jsonl';

/** Appended to a file with mutants. A child process of a test learns the number from its parent. */
const IS_ACTIVE = `
function isActiveMutant(number: number): boolean {
  const shared: any = globalThis;
  shared.kubediagMutantsReached?.add(number);
  shared.kubediagMutant ??= Number(shared.process?.env.KUBEDIAG_MUTANT ?? 0);
  return shared.kubediagMutant === number;
}
`;

/** A copy of the project with all mutants in it, each of them off. */
export function makeCopy(mutants: ReadonlyMap<number, Mutant>): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'kubediag-mutants-'));
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', listed, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  for (const file of files.trim().split('\n')) {
    if (existsSync(file)) cpSync(file, join(folder, file));
  }
  // Some tests start the executable. It is the one that was built last, without a mutant.
  for (const name of ['node_modules', 'dist']) symlinkSync(resolve(name), join(folder, name));
  for (const [path, inFile] of Map.groupBy(mutants, ([, mutant]) => mutant.path)) {
    const text = withMutants(readFileSync(path, 'utf8'), new Map(inFile), 'isActiveMutant');
    writeFileSync(join(folder, path), text + IS_ACTIVE);
  }
  return {
    folder,
    reached: () =>
      new Map(
        readFileSync(join(folder, REACHED), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as ReachedLine)
          .map(({ file, reached }) => [file, new Set(reached)]),
      ),
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
