import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeFault } from '../../../test/describe-fault.ts';
import { redacted, replayLook } from '../../host/take-look.ts';
import { bundleOfFiles } from '../../node/bundle.ts';
import { bundleFilesIn } from '../../node/bundle-folder.ts';
import { kubeletNotRunning } from './fault.ts';

describeFault(kubeletNotRunning, import.meta.dirname);

const home = join(import.meta.dirname, 'fixtures');
const names = readdirSync(home).filter((name) => !name.endsWith('.json'));

test.each(names)('what may leave the node %s still says how the kubelet ended', async (name) => {
  const bundle = bundleOfFiles(bundleFilesIn(join(home, name)));
  const { clock, answers } = bundle.recording;
  const safe = { ...bundle, recording: { clock, answers: redacted(answers) } };
  const [all, kept] = await Promise.all(
    [bundle, safe].map((each) => replayLook(each, [kubeletNotRunning], undefined)),
  );
  const gist = (report: typeof all) =>
    report?.faults.map(({ verdict, findings }) => [verdict, findings.map((one) => one.summary)]);
  expect(gist(kept)).toEqual(gist(all));
});

test('a line of another process that was killed for memory is no proof', async () => {
  const bundle = bundleOfFiles(bundleFilesIn(join(home, 'active-out-of-memory')));
  const report = await replayLook(bundle, [kubeletNotRunning], undefined);
  const told = JSON.stringify(report.faults);
  expect(told).toContain('Killed process 812 (kubelet)');
  expect(told).not.toContain('(java)');
});
