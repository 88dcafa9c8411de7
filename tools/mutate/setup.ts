import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';

/** Runs in each test file: notes which mutants the tests of the file reach. */

const reached = new Set<number>();
Object.assign(globalThis, { kubediagMutantsReached: reached });

const { testPath } = expect.getState();
const { KUBEDIAG_MUTANTS_REACHED: notes } = process.env;
if (testPath && notes) {
  afterAll(() => {
    const file = relative(process.cwd(), testPath);
    appendFileSync(notes, `${JSON.stringify({ file, reached: [...reached] })}\n`);
  });
}
