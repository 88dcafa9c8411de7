import { expect, test } from 'vitest';
import { testsOf } from './tests-of.ts';

test('the tests of a file are those that import it, the nearest first', () => {
  const sources = [
    { path: 'src/a.ts', text: '' },
    { path: 'src/a.kernel.test.ts', text: "import './a.ts';" },
    { path: 'src/a.test.ts', text: "import './a.ts';" },
    { path: 'src/b.ts', text: "import './a.ts';" },
    { path: 'src/a.prop.test.ts', text: "import './b.ts';" },
    { path: 'src/c.test.ts', text: "await import('./far.ts');" },
    { path: 'src/far.ts', text: "import type { B } from './b.ts';" },
    { path: 'src/other.test.ts', text: "import './other.ts';" },
  ];
  expect(testsOf(sources)('src/a.ts')).toEqual([
    'src/a.test.ts',
    'src/a.prop.test.ts',
    'src/c.test.ts',
  ]);
});
