import { prepareFolder, tried } from '../../lib/state/state-folder.ts';
import { faults } from '../../node/faults/index.ts';
import type { Failure } from '../../node/model/action.ts';
import { connectToAgent } from '../../pipeline/channel/connect-to-agent.ts';
import { PROTOCOL } from '../../pipeline/channel/messages.ts';
import { openKernelTables, openLiveNode } from '../local-node/open-live-node.ts';
import type { ManagedNode } from '../local-node/open-repair.ts';
import { VERSION } from '../local-node/product-version.ts';
import type { StepListener } from '../local-node/step-host.ts';
import { nodeWork, ownBuiltIns } from './node-work.ts';
import { policyFrom, policyText } from './policy.ts';
import { StandingCheck } from './standing-check/standing-check.ts';

export interface ExecutorOptions {
  readonly socketPath: string;
  readonly policyFile: string;
  readonly node: ManagedNode;
  /** Absent: steps for any node are run. */
  readonly nodeName?: string | undefined;
}

export interface ExecutorListener extends StepListener {
  /** Called with one line for the log. */
  readonly onEvent: (line: string) => void;
}

/** Runs the executor until `stop`. Gives the reason if it cannot start. */
export async function runExecutor(
  { socketPath, policyFile, node, nodeName }: ExecutorOptions,
  stop: AbortSignal,
  listener: ExecutorListener,
): Promise<Failure | undefined> {
  const { stateFolder } = node;
  const prepared = await tried(prepareFolder(stateFolder));
  if (!prepared.ok) {
    const what = `state directory ${stateFolder} cannot be used`;
    return { what, why: prepared.why, todo: prepared.todo };
  }
  const { onEvent } = listener;
  const policy = policyFrom(policyFile, (each) => onEvent(policyText(each)));
  await policy();
  const work = nodeWork({ node, nodeName, policy, stop, listener });
  const link = connectToAgent({
    socketPath,
    stop,
    hello: async () => ({
      type: 'hello',
      protocol: PROTOCOL,
      version: VERSION,
      builtIns: ownBuiltIns(),
    }),
    work: {
      ...work,
      runStep: async (step) => {
        const outcome = await work.runStep(step);
        const acted = 'record' in outcome && outcome.record?.actions !== undefined;
        if (acted) standing.checkSoon(`step ${step.name} has acted`);
        return outcome;
      },
    },
    onAgent: (change) =>
      onEvent(change.state === 'connected' ? 'connected to the agent' : `agent: ${change.why}`),
  });
  const standing = new StandingCheck({
    openNode: () => openLiveNode(node.access),
    tables: openKernelTables(node.access),
    faults,
    settings: node.settings,
    onCheck: link.publish,
    onBegin: (why) => listener.detail(() => `check of the node: ${why}\n`),
    stop,
  });
  await Promise.all([link.ended, standing.run()]);
  return undefined;
}
