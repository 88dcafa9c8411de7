import { parseArgs } from 'node:util';
import { folderOf } from './import-table.ts';
import { makeCopy } from './mutate/copy.ts';
import { type Mutant, mutantsOf } from './mutate/mutants.ts';
import { seededRandom } from './mutate/seeded-random.ts';
import { TestProcess } from './mutate/test-process.ts';
import { testsOf } from './mutate/tests-of.ts';
import { filesBelow, isGenerated, isTestCode, TYPESCRIPT } from './source-files.ts';

/**
 * Changes the sources in small ways, one at a time, and counts how many of the changes the unit tests
 * notice. docs/tests.md says how to read the result.
 */

const MODULES = ['repair', 'diagnosis', 'graph', 'evidence', 'faults'];

/** They call the kernel and do nothing else: only the kernel suite can run them. */
const KERNEL_ADAPTERS: readonly string[] = [
  'src/node/repair/end-strays.ts',
  'src/node/repair/live-writer.ts',
  'src/node/repair/remover.ts',
];

/** A module's own constants concern all tests that load it. These are the nearest. */
const AT_LOAD_FILES_MAX = 40;

const { values: options } = parseArgs({
  options: {
    module: { type: 'string', multiple: true, default: MODULES },
    file: { type: 'string', default: '' },
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    /** Numbers of mutants of this sample, to try the survivors again: "12,40". */
    only: { type: 'string' },
    /** Only tests below this directory: fewer mutants are noticed, and sooner. */
    tests: { type: 'string', default: '' },
  },
});

const sources = filesBelow(['src', 'lab', 'test'], TYPESCRIPT);
const mutants = sample();
const copy = makeCopy(mutants);
try {
  await run();
} finally {
  copy.remove();
}

/** The same number from each module, so that a large one does not outweigh the others. */
function sample(): ReadonlyMap<number, Mutant> {
  const random = seededRandom(Number(options.seed));
  const share = Math.ceil(Number(options.count) / options.module.length);
  const chosen = options.module.flatMap((module) =>
    sources
      .filter(({ path }) => path.startsWith(`${folderOf(module)}/`) && path.includes(options.file))
      .filter(({ path }) => !isTestCode(path) && !isGenerated(path))
      .filter(({ path }) => !KERNEL_ADAPTERS.includes(path))
      .flatMap(mutantsOf)
      .map((mutant) => ({ mutant, key: random() }))
      .toSorted((one, other) => one.key - other.key)
      .slice(0, share)
      .map(({ mutant }) => mutant),
  );
  const only = options.only?.split(',').map(Number);
  return new Map(
    chosen
      .map((mutant, index) => [index + 1, mutant] as const)
      .filter(([number]) => only?.includes(number) ?? true),
  );
}

async function run(): Promise<void> {
  console.log(`${mutants.size} mutants, seed ${options.seed}. The tests without any of them:`);
  const all = testsOf(sources);
  const nearest = (path: string): readonly string[] =>
    all(path).filter((file) => file.startsWith(options.tests));
  const files = [...new Set([...mutants.values()].flatMap(({ path }) => nearest(path)))];
  const baseline = new TestProcess(copy.folder, ['--all']);
  const { failures, tookMs } = await baseline.run(0, files.toSorted(), 30 * 60_000);
  baseline.stop();
  const failing = new Set(failures.map(({ file }) => file));
  for (const file of failing) console.log(`  left out because it fails: ${file}`);
  console.log(`  ${files.length} test files, ${seconds(timeOf(files, tookMs))}`);

  const reached = copy.reached();
  const tests = new TestProcess(copy.folder, []);
  const survivors: Mutant[] = [];
  for (const [number, mutant] of mutants) {
    const near = nearest(mutant.path).filter((file) => !failing.has(file));
    const asked = mutant.atLoad
      ? near.slice(0, AT_LOAD_FILES_MAX)
      : near.filter((file) => reached.get(file)?.has(number));
    const began = performance.now();
    const limitMs = 30_000 + Math.ceil(1.5 * timeOf(asked, tookMs));
    const failure = asked.length > 0 && (await tests.firstFailure(number, asked, limitMs));
    if (!failure) survivors.push(mutant);
    const took = seconds(performance.now() - began);
    const end = failure ? `killed by ${failure}` : `SURVIVED ${asked.length} test files`;
    console.log(`${number}/${mutants.size} ${took} ${titleOf(mutant)}: ${end}`);
  }
  tests.stop();
  printResult(survivors);
}

function printResult(survivors: readonly Mutant[]): void {
  for (const survivor of survivors) {
    console.log(`\n${titleOf(survivor)}\n- ${survivor.before}\n+ ${survivor.after}`);
  }
  console.log();
  for (const module of [...options.module, '']) {
    const isHere = ({ path }: Mutant): boolean => path.includes(`/${module}`);
    const all = [...mutants.values()].filter(isHere).length;
    const killed = all - survivors.filter(isHere).length;
    const percent = ((100 * killed) / all).toFixed(1);
    console.log(`${module || 'total'}: ${killed} of ${all} killed (${percent} %)`);
  }
}

function titleOf({ path, line, kind }: Mutant): string {
  return `${path}:${line} ${kind}`;
}

function timeOf(files: readonly string[], tookMs: Readonly<Record<string, number>>): number {
  return files.reduce((sum, file) => sum + (tookMs[file] ?? 0), 0);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
