import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkUp } from '../src/checkup/check-up.ts';
import { lookAt } from '../src/checkup/look.ts';
import { nodeFacts } from '../src/checkup/node-facts.ts';
import { faults } from '../src/faults/index.ts';
import { filesOfBundle } from '../src/node/bundle.ts';
import { RecordingNode } from '../src/node/recording-node.ts';
import type { NodeMaker } from '../test/made-node.ts';
import { madeNodes } from './fixtures/stale-subpath-mount.ts';

const PROJECT = join(import.meta.dirname, '..');

/**
 * Records the nodes that are described in tools/fixtures/, one bundle each, so that they hold
 * exactly what a check asks. Fixtures that were recorded on real nodes are not touched.
 */
export async function writeFixtures(): Promise<readonly string[]> {
  const home = join(PROJECT, 'src/faults/stale-subpath-mount/fixtures');
  const written: string[] = [];
  for (const [name, maker] of madeNodes()) {
    const folder = join(home, name);
    rmSync(folder, { recursive: true, force: true });
    for (const [file, content] of filesOfBundle(await recordedBundle(maker))) {
      const path = join(folder, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      written.push(path);
    }
  }
  return written;
}

async function recordedBundle(maker: NodeMaker) {
  const recorder = new RecordingNode(maker.build());
  const look = lookAt(recorder);
  await checkUp(faults, look);
  await nodeFacts(look);
  return { recording: recorder.recording, madeBy: 'by hand', tookMs: 12, settings: {} };
}

if (import.meta.main) console.error(`${(await writeFixtures()).length} files written`);
