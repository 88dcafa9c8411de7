import { join } from 'node:path';
import { expect, test } from 'vitest';
import { replayCheck } from '../../../node/checkup/replay.ts';
import { kubeletNotRunning } from '../../../node/faults/kubelet-not-running/fault.ts';
import { bundleOfFiles } from '../../../node/recording/bundle.ts';
import { bundleFilesIn } from '../../local-node/bundle-folder.ts';
import { hasNothingToCheck } from './no-node.ts';

const FIXTURES = join(import.meta.dirname, '../../../node/faults/kubelet-not-running/fixtures');

test.each([
  ['not-a-node-without-root', true],
  ['unclear-root-elsewhere-in-a-container', true],
  ['active-root-elsewhere', false],
  ['active-crashed', false],
])('on %s there is nothing to check: %s', async (name, isNothing) => {
  const bundle = await bundleOfFiles(bundleFilesIn(join(FIXTURES, name)));
  const report = await replayCheck(bundle, [kubeletNotRunning], undefined);
  expect(hasNothingToCheck(report)).toBe(isNothing);
});
