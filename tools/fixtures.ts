import { fixturePaths, writeFixture } from '../test/fault-fixtures.ts';

/** Writes the fixtures of all faults as bundles below a directory, for `kubediag replay`. */
if (import.meta.main) {
  const [, , below = 'dist/fixtures'] = process.argv;
  for (const path of await fixturePaths()) console.log(await writeFixture(path, below));
}
