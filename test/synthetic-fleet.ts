import { onTestFinished } from 'vitest';
import {
  RecoverySlots,
  type RecoverySlotsOptions,
} from '../src/hosts/agent/recovery/recovery-slots.ts';
import { repairSteps } from '../src/hosts/agent/recovery/repair-steps.ts';
import { NAMESPACE } from '../src/pipeline/api/cluster-names.ts';
import type { DiagnosisSpec, DiagnosisStatus } from '../src/pipeline/api/diagnosis.ts';
import type { SettledJournal } from '../src/pipeline/channel/executor.ts';
import type { KubeClient } from '../src/pipeline/kube/kube-client.ts';
import type { RunStep, StepToRun } from '../src/pipeline/steps/step-to-run.ts';

export const FAULT = 'some-fault';
const PATH = '/processor/someRecover';
export const OTHER_FAULT = 'other-fault';
export const OTHER_PATH = '/processor/otherRecover';

const REPAIRS = new Map([
  [PATH, FAULT],
  [OTHER_PATH, OTHER_FAULT],
]);

interface FleetNodeOptions {
  readonly run: RunStep;
  /** The Diagnoses whose step has begun to act; true: each. */
  readonly hasBegun?: boolean | 'unknown' | readonly string[];
  /** Whether an executor has connected. */
  readonly hasExecutor?: boolean;
  /** The time between two questions is that of the test. */
  readonly asksAtOnce?: boolean;
  readonly settle?: () => Promise<SettledJournal>;
  readonly slots?: Partial<RecoverySlotsOptions>;
}

/** The part of an agent that asks for a slot, and a step that it runs; until the test ends or it is killed. */
export function fleetNode(
  client: KubeClient,
  nodeName: string,
  {
    run,
    hasBegun = false,
    hasExecutor = true,
    asksAtOnce = false,
    settle = async () => ({ isSettled: true }),
    slots: given = {},
  }: FleetNodeOptions,
) {
  const stop = new AbortController();
  const messages: string[] = [];
  let turn = Promise.withResolvers<void>();
  const onTurnEnd = () => {
    turn.resolve();
    turn = Promise.withResolvers();
  };
  const slots = new RecoverySlots({
    ...{ client, namespace: NAMESPACE, nodeName, settle, stop: stop.signal },
    onMessage: (message) => messages.push(message),
    onTurnEnd,
    ...(asksAtOnce ? { askAgainMs: () => 0 } : {}),
    ...given,
  });
  const running = slots.run();
  const kill = async () => {
    stop.abort();
    await running;
  };
  onTestFinished(kill);
  const isBegun = (purpose: string) =>
    hasBegun === true ||
    (Array.isArray(hasBegun) && hasBegun.some((name) => purpose.endsWith(`/${name}`)));
  const step = repairSteps(run, {
    slots,
    shutdown: stop.signal,
    repairs: async () => (hasExecutor ? REPAIRS : undefined),
    earlierActionsFor: async (purpose) => {
      if (hasBegun === 'unknown') return { isKnown: false, why: 'the executor does not answer' };
      const actions = isBegun(purpose) ? [{ kind: 'unmount', state: 'done' }] : [];
      return { isKnown: true, record: { actions } };
    },
  });
  /** Also after the other steps of the node, as a runner does. */
  const stepInTurn: typeof step = async (each) => {
    for (;;) {
      const { promise: ended } = turn;
      const outcome = await step(each);
      const isBusy = 'notNow' in outcome && outcome.notNow.name.startsWith('Another Diagnosis');
      if (!isBusy) return outcome;
      await ended;
    }
  };
  return { step, stepInTurn, slots, messages, kill };
}

export function repairStep(
  nodeName: string,
  spec: Partial<DiagnosisSpec> = {},
  {
    status = {},
    name = 'web',
    path = PATH,
  }: { status?: DiagnosisStatus; name?: string; path?: string } = {},
): StepToRun {
  const uid = `uid-of-${name}-on-${nodeName}`;
  return {
    name: 'some-recover',
    processor: { way: 'http', path, scheme: 'http', timeoutSeconds: 30 },
    diagnosis: {
      ...{ namespace: 'default', name, uid, nodeName, status },
      spec: { operationSet: 'some', ...spec },
    },
    input: {},
    restMs: Number.POSITIVE_INFINITY,
    purpose: `${uid}/1/default/${name}`,
    stop: new AbortController().signal,
  };
}
