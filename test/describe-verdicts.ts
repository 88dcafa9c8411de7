import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundleFilesIn } from '../src/hosts/local-node/bundle-folder.ts';
import { replayCheck } from '../src/node/checkup/replay.ts';
import type { Report } from '../src/node/checkup/report.ts';
import type { AnyFault } from '../src/node/model/fault.ts';
import { bundleOfFiles } from '../src/node/recording/bundle.ts';

/** A golden answer can be rewritten by mistake; the name of a fixture says what it must be. */
export function describeVerdicts(fault: AnyFault, folder: string): void {
  const home = join(folder, 'fixtures');
  const names = readdirSync(home).filter((name) => !name.endsWith('.json'));
  describe(`${fault.id} is judged as the name of the fixture says`, () => {
    test.each(names)('%s', async (name) => {
      const { verdict, findings } = await answerOn(fault, join(home, name));
      const states = findings.map(({ state }) => state).filter((state) => state !== 'benign');
      expect([verdict, states]).toEqual(expectedOf(name));
    });
  });
}

export async function answerOn(
  fault: AnyFault,
  fixture: string,
): Promise<Report['faults'][number]> {
  const bundle = await bundleOfFiles(bundleFilesIn(fixture));
  const { faults } = await replayCheck(bundle, [fault], undefined);
  if (!faults[0]) throw new Error('no answer');
  return faults[0];
}

function expectedOf(name: string): readonly unknown[] {
  if (name.startsWith('active-')) return ['found', ['active']];
  return [name.startsWith('unclear-') ? 'unknown' : 'clear', []];
}
