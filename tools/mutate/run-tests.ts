import {
  BaseSequencer,
  createVitest,
  type Reporter,
  type TestModule,
  type TestSpecification,
} from 'vitest/node';

/** A child process: holds one vitest ready, and runs the test files that its parent names. */

export interface TestRequest {
  readonly mutant: number;
  /** In this order. */
  readonly files: readonly string[];
}

export interface TestAnswer {
  readonly failures: readonly { readonly file: string; readonly test: string }[];
  readonly tookMs: Readonly<Record<string, number>>;
}

/** Set when all tests are to run to their end, not only up to the first failure. */
const all = process.argv.includes('--all');
const order = new Map<string, number>();

class GivenOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => order.get(moduleId) ?? 0;
    return specifications.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

const silent: Reporter = {};
const vitest = await createVitest({
  config: false,
  watch: false,
  isolate: false,
  pool: 'forks',
  maxWorkers: all ? 2 : 1,
  bail: all ? 0 : 1,
  testTimeout: all ? 60_000 : 20_000,
  hookTimeout: all ? 60_000 : 20_000,
  include: ['**/*.test.ts'],
  exclude: ['**/node_modules/**', '**/*.{kernel,runtime,trace,cluster}.test.ts'],
  setupFiles: ['tools/mutate/setup.ts'],
  sequence: { sequencer: GivenOrder },
  reporters: [silent],
  silent: true,
});
await vitest.globTestSpecifications();

process.on('message', (request: TestRequest) => void run(request));
process.send?.('ready');

async function run({ mutant, files }: TestRequest): Promise<void> {
  process.env.KUBEDIAG_MUTANT = String(mutant);
  const paths = files.map((file) => `${process.cwd()}/${file}`);
  order.clear();
  for (const [place, path] of paths.entries()) order.set(path, place);
  const specifications = paths.flatMap((path) => vitest.getModuleSpecifications(path));
  const { testModules } = await vitest.runTestSpecifications(specifications);
  const answer: TestAnswer = {
    failures: testModules.flatMap(failuresOf),
    tookMs: Object.fromEntries(
      testModules.map((module) => [module.relativeModuleId, module.diagnostic().duration]),
    ),
  };
  process.send?.(answer);
}

function failuresOf(module: TestModule): TestAnswer['failures'] {
  const file = module.relativeModuleId;
  const failed = [...module.children.allTests('failed')].map(({ fullName }) => fullName);
  const atLoad = module.errors().map(({ message }) => message);
  const inSuites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  return [...failed, ...atLoad, ...inSuites.map(({ message }) => message)].map((test) => ({
    file,
    test,
  }));
}
