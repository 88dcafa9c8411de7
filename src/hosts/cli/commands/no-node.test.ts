import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kubeletNotRunning } from '../../../node/faults/kubelet-not-running/fault.ts';
import { bundleOfFiles } from '../../../node/reader/bundle.ts';
import { bundleFilesIn } from '../../../node/reader/bundle-folder.ts';
import { replayCheck } from '../../local-node/run-check.ts';
import { hasNothingToCheck } from './no-node.ts';

const FIXTURES = join(import.meta.dirname, '../../../node/faults/kubelet-not-running/fixtures');

test.each([
  ['not-a-node-without-root', true],
  ['unclear-root-elsewhere-in-a-container', true],
  ['active-root-elsewhere', false],
  ['active-crashed', false],
])('on %s there is nothing to check: %s', async (name, isNothing) => {
  const bundle = bundleOfFiles(bundleFilesIn(join(FIXTURES, name)));
  const report = await replayCheck(bundle, [kubeletNotRunning], undefined);
  expect(hasNothingToCheck(report)).toBe(isNothing);
});
