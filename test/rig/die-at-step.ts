import { lookAt } from '../../src/node/checkup/look.ts';
import type { Action } from '../../src/node/model/action.ts';
import { LiveNode } from '../../src/node/reader/live-node.ts';
import { ALL_ACTIONS, openHands } from '../../src/node/repair/open-hands.ts';
import { readerCommand } from '../reader-command.ts';

/**
 * Performs an action and kills itself after one of its steps:
 * `die-at-step.ts STEP STATE_FOLDER ACTION --kubelet-pid PID`.
 */
const [wanted = '', stateFolder = '', action = '', , pid = ''] = process.argv.slice(2);
const node = new LiveNode(readerCommand, { hostRoot: '/' });
const hands = await openHands({
  stateFolder,
  look: () => lookAt(node, { kubeletPid: Number(pid) }),
  permitted: ALL_ACTIONS,
});
if (!hands.isOpen) throw new Error(`${hands.what}: ${hands.why}`);
const intent = { action: JSON.parse(action) as Action, fault: 'a-fault', finding: '3f9a1c' };
const { outcome } = await hands.perform(intent, {
  onStep: ({ name }) => {
    if (name === wanted) process.kill(process.pid, 'SIGKILL');
  },
});
throw new Error(`it did not come to "${wanted}": ${JSON.stringify(outcome)}`);
