import { takeSnapshot } from '../../src/node/checkup/take-snapshot.ts';
import type { Action } from '../../src/node/model/action.ts';
import { LiveNode } from '../../src/node/reader/live-node.ts';
import { ALL_ACTIONS, openRepair } from '../../src/node/repair/open-repair.ts';
import { readerCommand } from '../reader-command.ts';

/**
 * Performs an action and kills itself after one of its steps:
 * `die-at-step.ts STEP STATE_FOLDER ACTION --kubelet-pid PID`.
 */
const [wanted = '', stateFolder = '', action = '', , pid = ''] = process.argv.slice(2);
const node = new LiveNode(readerCommand, { hostRoot: '/' });
const repair = await openRepair({
  stateFolder,
  snapshot: () => takeSnapshot(node, { kubeletPid: Number(pid) }),
  permitted: ALL_ACTIONS,
});
if (!repair.isOpen) throw new Error(`${repair.what}: ${repair.why}`);
const intent = { action: JSON.parse(action) as Action, fault: 'a-fault', finding: '3f9a1c' };
const { outcome } = await repair.perform(intent, {
  onStep: ({ name }) => {
    if (name === wanted) process.kill(process.pid, 'SIGKILL');
  },
});
throw new Error(`it did not come to "${wanted}": ${JSON.stringify(outcome)}`);
