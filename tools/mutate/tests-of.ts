import { importsOf } from '../module-graph.ts';
import type { SourceFile } from '../source-files.ts';

// src/node/faults/index.test.ts and not src/node/repair/repair.kernel.test.ts
const UNIT_TEST = /^[^.]+([.]prop)?[.]test[.]ts$/;

/** The unit tests that import a file, through however many others, the nearest first. */
export function testsOf(sources: readonly SourceFile[]): (path: string) => readonly string[] {
  const imports = sources.flatMap((source) =>
    importsOf(source).flatMap(({ target }) =>
      target.kind === 'file' ? [{ importer: source.path, path: target.path }] : [],
    ),
  );
  const importers = Map.groupBy(imports, ({ path }) => path);
  return (path) => {
    // Breadth first: a set is walked in the order in which its members came.
    const seen = new Set([path]);
    for (const file of seen) {
      for (const { importer } of importers.get(file) ?? []) seen.add(importer);
    }
    return [...seen].filter((file) => UNIT_TEST.test(file));
  };
}
