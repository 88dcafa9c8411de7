import { prepareFolder, tried } from '../../lib/state/state-folder.ts';
import { CheckMemory } from '../../node/checkup/check-memory.ts';
import { faults } from '../../node/faults/index.ts';
import type { Failure } from '../../node/model/action.ts';
import { connectToAgent } from '../../pipeline/channel/connect-to-agent.ts';
import { PROTOCOL } from '../../pipeline/channel/messages.ts';
import type { ActionRecord } from '../../pipeline/steps/action-text.ts';
import type { StepToRun } from '../../pipeline/steps/step-to-run.ts';
import { openKernelTables, openLiveNode, openQuickReader } from '../local-node/open-live-node.ts';
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
  const memory = new CheckMemory();
  // Steps need the version of the kubelet too, and running its program takes longer than most of them.
  const known = { ...node, seenSettings: () => memory.version() };
  const work = nodeWork({ node: known, nodeName, policy, stop, listener });
  const link = connectToAgent({
    socketPath,
    stop,
    hello: async () => ({
      type: 'hello',
      protocol: PROTOCOL,
      version: VERSION,
      ...ownBuiltIns(),
    }),
    work: {
      ...work,
      runStep: async (step) => {
        const outcome = await work.runStep(step);
        const { actions = [] } = outcome.record ?? {};
        for (const action of actions) onEvent(actionText(step, action));
        if (actions.length > 0) standing.checkSoon(`step ${step.name} has acted`);
        return outcome;
      },
    },
    onAgent: (change) =>
      onEvent(change.state === 'connected' ? 'connected to the agent' : `agent: ${change.why}`),
  });
  const standing = new StandingCheck({
    openNode: () => openLiveNode(node.access),
    tables: openKernelTables(node.access),
    quick: openQuickReader(node.access),
    faults,
    settings: node.settings,
    memory,
    onCheck: link.publish,
    onBegin: (why) => listener.detail(() => `check of the node: ${why}\n`),
    stop,
  });
  await Promise.all([link.ended, standing.run()]);
  return undefined;
}

// Diagnosis default/web, step stale-subpath-mount-recover: unmount /var/...: done, journal entry 7
function actionText({ name, diagnosis }: StepToRun, action: ActionRecord): string {
  const { kind, description = kind, state = 'not performed', journalEntry } = action;
  const entry = journalEntry === undefined ? '' : `, journal entry ${journalEntry}`;
  const of = `Diagnosis ${diagnosis.namespace}/${diagnosis.name}, step ${name}`;
  return `${of}: ${description}: ${state}${entry}`;
}
