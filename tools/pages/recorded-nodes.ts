import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFilesIn } from '../../src/hosts/local-node/bundle-folder.ts';
import { checkUp, type Judged } from '../../src/node/checkup/judge-faults.ts';
import { makeReport } from '../../src/node/checkup/make-report.ts';
import { nodeFacts } from '../../src/node/checkup/node-facts.ts';
import type { Report } from '../../src/node/checkup/report.ts';
import { takeSnapshot } from '../../src/node/checkup/take-snapshot.ts';
import { faults } from '../../src/node/faults/index.ts';
import { bundleOfFiles } from '../../src/node/recording/bundle.ts';
import { RecordedNode } from '../../src/node/recording/recorded-node.ts';

/** The folders of all recorded nodes of a fault. */
export function fixturesOf(fault: { readonly id: string }): readonly string[] {
  const home = join('src/node/faults', fault.id, 'fixtures');
  return readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(home, name))
    .toSorted();
}

/** A recorded node, judged as `kubediag replay` does it. */
export async function judgedFixture(
  folder: string,
): Promise<{ readonly report: Report; readonly judged: readonly Judged[] }> {
  const { recording, settings, tookMs } = await bundleOfFiles(bundleFilesIn(folder));
  const snapshot = takeSnapshot(new RecordedNode(recording), settings);
  const judged = await checkUp(faults, snapshot);
  return { judged, report: makeReport({ ...(await nodeFacts(snapshot)), tookMs }, judged) };
}
