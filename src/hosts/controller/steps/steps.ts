import { isLoopback } from '../../../lib/std/is-loopback.ts';
import { hasEnded } from '../../../pipeline/api/has-ended.ts';
import type { OperationSpec } from '../../../pipeline/api/operation.ts';
import type { GraphNode } from '../../../pipeline/api/operation-set.ts';
import { processorOf } from '../../../pipeline/api/processor-of.ts';
import { CONDITION_REASONS } from '../../../pipeline/api/reasons.ts';
import { driveDiagnosis } from '../../../pipeline/diagnosis/drive-diagnosis.ts';
import type { Driven, DriverContext } from '../../../pipeline/diagnosis/driver-context.ts';
import { storeLookup } from '../../../pipeline/diagnosis/operation-lookup.ts';
import type { BuiltIns } from '../../../pipeline/steps/built-ins.ts';
import { controllerStepOf } from '../../../pipeline/steps/controller-steps.ts';
import { AGENT_PORT } from '../../../pipeline/steps/limits.ts';
import type { ControllerContext } from '../controller-context.ts';
import type { DiagnosisDigest } from '../digests.ts';
import { openQueue } from '../open-queue.ts';
import { STEP_RETRY_MS, WRITE_MS } from './limits.ts';
import { withPolicyWait } from './policy-wait.ts';
import { runStepFor } from './run-step.ts';

const { type: WAITING } = CONDITION_REASONS.ControllerStepDue;

interface StepsOptions {
  readonly writeMs?: number;
}

/** Runs the steps that need rights at the API server, as soon as the agent of a Diagnosis has come to one. */
export async function steps(
  context: ControllerContext,
  { writeMs = WRITE_MS }: StepsOptions = {},
): Promise<void> {
  const { diagnoses, stop } = context;
  const driver = driverContext(context);
  const queue = openQueue(context, 'steps', async (place) => {
    const digest = diagnoses.get(place);
    if (!digest || !isDue(digest)) return undefined;
    const { namespace, name, uid } = digest;
    const key = { kind: 'Diagnosis', namespace, name, uid } as const;
    return waitMs(await driveDiagnosis(key, limited(driver, writeMs), stop));
  });
  const see = (key: string, digest: DiagnosisDigest | undefined) => {
    if (digest && isDue(digest)) queue.add(key);
  };
  diagnoses.onChange(see);
  for (const [key, digest] of diagnoses.entries()) see(key, digest);
}

function isDue({ isDeleted, phase, trueConditions }: DiagnosisDigest): boolean {
  return trueConditions.has(WAITING) && !isDeleted && !hasEnded(phase);
}

/** The agent drives the Diagnosis, too: it leaves these steps to us, and we leave all others to it. */
function driverContext(context: ControllerContext): DriverContext {
  const { store, stop, now, onMessage } = context;
  const builtIns = builtInsOf(context);
  const runStep = runStepFor(context);
  return {
    store,
    lookup: storeLookup(store, async () => builtIns, {
      isHere: (address, port) => port === AGENT_PORT && isLoopback(address),
    }),
    runStep: async (step) => {
      const outcome = await runStep(step);
      return 'notNow' in outcome ? withPolicyWait(outcome, step.diagnosis.status, now()) : outcome;
    },
    runsHere: (processor) => controllerStepOf(processor) !== undefined,
    largeResults: {
      store: async () => ({ ok: false, why: 'they are too large for the controller' }),
      remove: async () => {},
      retain: async () => {},
    },
    targetOf: ({ nodeName }) => (nodeName ? { state: 'here', nodeName } : { state: 'elsewhere' }),
    shutdown: stop,
    now,
    onError: (message) => onMessage(`steps: ${message}`),
  };
}

/** Repeats requests to the store for so long only. A step has a time limit of its own. */
function limited(driver: DriverContext, writeMs: number): DriverContext {
  const limit = new AbortController();
  const start = () => setTimeout(() => limit.abort(), writeMs).unref();
  let timer = start();
  return {
    ...driver,
    shutdown: AbortSignal.any([driver.shutdown, limit.signal]),
    runStep: async (step) => {
      clearTimeout(timer);
      const outcome = await driver.runStep(step);
      timer = start();
      return outcome;
    },
  };
}

/** Somebody may have deleted the object of one: agents know it all the same. */
function builtInsOf({ builtIns }: ControllerContext): BuiltIns {
  const named = (kind: string) => builtIns.filter((each) => each.kind === kind);
  return {
    operations: new Map(
      named('Operation').map(({ metadata, spec }) => [
        metadata.name,
        processorOf(spec as unknown as OperationSpec),
      ]),
    ),
    operationSets: new Map(
      named('OperationSet').map(({ metadata, spec }) => [
        metadata.name,
        spec.adjacencyList as readonly GraphNode[],
      ]),
    ),
  };
}

/** When to drive it again, if nothing changes until then. */
function waitMs(driven: Driven): number | undefined {
  if (driven.state === 'interrupted') return STEP_RETRY_MS;
  if (driven.state !== 'waits' || !Number.isFinite(driven.againAt)) return undefined;
  return Math.max(driven.againAt - Date.now(), 1);
}
