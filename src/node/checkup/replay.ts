import { numberAt, textAt } from '../../lib/std/json.ts';
import { faults } from '../faults/index.ts';
import type { SnapshotOptions } from '../model/evidence.ts';
import type { AnyFault } from '../model/fault.ts';
import type { Bundle } from '../recording/bundle.ts';
import { BundleError } from '../recording/bundle-error.ts';
import { RecordedNode } from '../recording/recorded-node.ts';
import { judgeFaults, type PodName } from './judge-faults.ts';
import { makeReport } from './make-report.ts';
import { nodeFacts } from './node-facts.ts';
import type { Report } from './report.ts';
import { takeSnapshot } from './take-snapshot.ts';

/** Judges a recorded node: the report that a check made when the bundle was recorded. */
export async function replayCheck(
  bundle: Bundle,
  asked: readonly AnyFault[],
  only?: PodName,
): Promise<Report> {
  const snapshot = takeSnapshot(new RecordedNode(bundle.recording), settingsIn(bundle));
  const judged = await judgeFaults(asked, snapshot, only);
  return makeReport({ ...(await nodeFacts(snapshot)), tookMs: bundle.tookMs }, judged);
}

/** The options of the recorded check. A bundle may hold anything, so their types are checked. */
export function settingsIn({ settings }: Pick<Bundle, 'settings'>): SnapshotOptions {
  const known = {
    kubeletPid: numberAt(settings, 'kubeletPid'),
    kubeletRoot: textAt(settings, 'kubeletRoot'),
    runtimeEndpoint: textAt(settings, 'runtimeEndpoint'),
    kubeletLog: textAt(settings, 'kubeletLog'),
    ...Object.fromEntries(options.map(({ name, read }) => [name, read(settings[name])])),
  };
  const isValid = Object.entries(known).every(([name, value]) => settings[name] === value);
  if (!isValid) throw new BundleError('manifest.json: invalid settings');
  return known;
}

const options = faults.flatMap((fault) => fault.options ?? []);
