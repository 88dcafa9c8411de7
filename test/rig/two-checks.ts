import { bundleOf } from '../../src/hosts/local-node/save-bundle.ts';
import { systemTerminal } from '../../src/lib/terminal/terminal.ts';
import { CheckMemory } from '../../src/node/checkup/check-memory.ts';
import { replayCheck } from '../../src/node/checkup/replay.ts';
import { runCheck } from '../../src/node/checkup/run-check.ts';
import { deadVolumeMount } from '../../src/node/faults/dead-volume-mount/fault.ts';
import { LiveNode } from '../../src/node/reader/live-node.ts';
import { readerCommand } from '../reader-command.ts';

/**
 * Checks the node twice, as a watch does, and pretends that so much time passed between the checks:
 * `two-checks.ts 300000`. Prints the findings of both, and those of a replay of the second.
 */
const passedMs = Number(process.argv[2]);
let nowMs = 0;
const memory = new CheckMemory(() => nowMs);
const node = new LiveNode(readerCommand, { hostRoot: '/' });
const faults = [deadVolumeMount];
const reported: unknown[] = [];
for (const isSecond of [false, true]) {
  node.beginCheck();
  const settings = memory.addedTo({});
  const looking = { faults, settings, timeoutMs: 30_000 };
  const checked = await runCheck(node, looking, systemTerminal({ quiet: true }));
  await memory.keep(checked.recording, settings);
  nowMs += passedMs;
  const { report } = checked;
  reported.push(report.faults[0]?.findings);
  if (isSecond) {
    const bundle = JSON.parse(JSON.stringify(bundleOf(checked).settings)) as object;
    const replayed = { ...bundleOf(checked), settings: { ...bundle } };
    reported.push((await replayCheck(replayed, faults, undefined)).faults[0]?.findings);
  }
}
process.stdout.write(`${JSON.stringify(reported)}\n`);
node.close();
