import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** It begins something that takes five minutes. */
const FIRST = '/dead-volume-mount.cluster.test.ts';
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
  if (moduleId.endsWith(FIRST)) return -1;
  return moduleId.endsWith(LAST) ? 1 : 0;
}
