import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkUp } from '../src/node/checkup/judge-faults.ts';
import { nodeFacts } from '../src/node/checkup/node-facts.ts';
import { takeSnapshot } from '../src/node/checkup/take-snapshot.ts';
import { containerWithoutLogPath } from '../src/node/faults/container-without-log-path/fault.ts';
import { deadVolumeMount } from '../src/node/faults/dead-volume-mount/fault.ts';
import { kubeletNotRunning } from '../src/node/faults/kubelet-not-running/fault.ts';
import { leftoverVolumeDirectory } from '../src/node/faults/leftover-volume-directory/fault.ts';
import { orphanedVolumeMetadata } from '../src/node/faults/orphaned-volume-metadata/fault.ts';
import { runtimeNotResponding } from '../src/node/faults/runtime-not-responding/fault.ts';
import { staleSubpathMount } from '../src/node/faults/stale-subpath-mount/fault.ts';
import type { AnyFault } from '../src/node/model/fault.ts';
import { filesOfBundle } from '../src/node/recording/bundle.ts';
import { RecordingNode } from '../src/node/recording/recording-node.ts';
import type { NodeMaker } from '../test/synthetic-node.ts';
import { madeNodes as unloggedNodes } from './fixtures/container-without-log-path.ts';
import { madeNodes as deadMountNodes } from './fixtures/dead-volume-mount.ts';
import { madeNodes as stoppedNodes } from './fixtures/kubelet-not-running.ts';
import { madeNodes as leftoverNodes } from './fixtures/leftover-volume-directory.ts';
import { madeNodes as metadataNodes } from './fixtures/orphaned-volume-metadata.ts';
import { madeNodes as silentNodes } from './fixtures/runtime-not-responding.ts';
import { madeNodes as staleMountNodes } from './fixtures/stale-subpath-mount.ts';

const PROJECT = join(import.meta.dirname, '..');

type SyntheticNodes = () => ReadonlyMap<string, NodeMaker>;

/** The nodes of each fault are recorded with what this fault asks, and nothing else. */
const MADE: readonly (readonly [AnyFault, SyntheticNodes])[] = [
  [containerWithoutLogPath, unloggedNodes],
  [deadVolumeMount, deadMountNodes],
  [kubeletNotRunning, stoppedNodes],
  [leftoverVolumeDirectory, leftoverNodes],
  [orphanedVolumeMetadata, metadataNodes],
  [runtimeNotResponding, silentNodes],
  [staleSubpathMount, staleMountNodes],
];

/**
 * Records the nodes that are described in tools/fixtures/, one bundle each, so that they hold
 * exactly what a check asks. Fixtures that were recorded on real nodes are not touched.
 */
export async function writeFixtures(): Promise<readonly string[]> {
  const written: string[] = [];
  for (const [fault, madeNodes] of MADE) {
    const home = join(PROJECT, 'src/node/faults', fault.id, 'fixtures');
    for (const [name, maker] of madeNodes()) {
      const folder = join(home, name);
      rmSync(folder, { recursive: true, force: true });
      for (const [file, content] of await filesOfBundle(await recordedBundle(fault, maker))) {
        const path = join(folder, file);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
        written.push(path);
      }
    }
  }
  return written;
}

async function recordedBundle(fault: AnyFault, maker: NodeMaker) {
  const recorder = new RecordingNode(maker.build());
  const snapshot = takeSnapshot(recorder, maker.settings);
  await checkUp([fault], snapshot);
  await nodeFacts(snapshot);
  const settings = { ...maker.settings };
  return { recording: recorder.recording, madeBy: 'by hand', tookMs: 12, settings };
}

if (import.meta.main) console.error(`${(await writeFixtures()).length} files written`);
