import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** One begins something that takes five minutes; the others take longest of their suites. */
const FIRST = [
  '/dead-volume-mount.cluster.test.ts',
  '/lab-exam.kernel.test.ts',
  '/dead-volume-mount.kernel.test.ts',
  '/left-readers.kernel.test.ts',
  '/killed-at-random.kernel.test.ts',
];
/** It waits for that, so all others come before. */
const LAST = '/sync-loop-health.cluster.test.ts';

/** In which order test files run: vitest's own, but for those that need time to pass. */
export class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Vitest's own method, which is no sort of an array.
    const inherited = super.sort.bind(this);
    const sorted = await inherited(files);
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const first = FIRST.findIndex((name) => moduleId.endsWith(name));
  if (first >= 0) return first - FIRST.length;
  return moduleId.endsWith(LAST) ? 1 : 0;
}
