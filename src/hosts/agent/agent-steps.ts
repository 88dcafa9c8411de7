import type { DiagnosisSpec } from '../../pipeline/api/diagnosis.ts';
import type { Executor } from '../../pipeline/channel/executor.ts';
import { idempotencyKeyOf } from '../../pipeline/steps/idempotency-key.ts';
import { failedWith, refusedWith } from '../../pipeline/steps/operation-result.ts';
import { isOwnPath, runServer } from '../../pipeline/steps/run-server.ts';
import { failingAlone, type RunStep, stopWithin } from '../../pipeline/steps/step-to-run.ts';
import { inputBody } from './input-body.ts';
import type { TakeAnswer } from './large-answers.ts';

export interface AgentStepOptions {
  readonly runOnNode: RunStep;
  readonly readFile: Executor['readFile'];
  readonly takeAnswer: TakeAnswer;
}

const PROGRAM_OF_POD =
  'this Operation runs a script, a function or another server, which may change anything: for a pod set ' +
  'spec.recovery to Automatic, which needs the verb "recover"';

/** Only the author of a Diagnosis with recovery Automatic was checked for the verb "recover". */
function mayRunPrograms({ podReference, recovery = 'Automatic' }: DiagnosisSpec): boolean {
  return podReference === undefined || recovery === 'Automatic';
}

/**
 * Runs a step where it belongs. The agent itself asks servers that Operations name, because the
 * executor has no network of its own; the executor runs everything else.
 */
export function agentSteps({ runOnNode, readFile, takeAnswer }: AgentStepOptions): RunStep {
  return async (step) => {
    const { processor, input, restMs, diagnosis, onRetry } = step;
    const isBuiltIn = processor.way === 'http' && isOwnPath(processor);
    if (!isBuiltIn && !mayRunPrograms(diagnosis.spec)) return refusedWith(PROGRAM_OF_POD);
    if (processor.way !== 'http' || isBuiltIn) return runOnNode(step);
    if (diagnosis.spec.dryRun) {
      const why = 'dry run: nobody knows what it would change, so it was not run';
      return failedWith(why, undefined, 'Refused');
    }
    const stop = stopWithin(restMs, step.stop);
    const timeoutMs = Math.max(Math.min(processor.timeoutSeconds * 1_000, restMs), 1);
    const run = async () => {
      const body = step.largeInput && (await inputBody({ ...step, stop }, readFile));
      if (body && 'why' in body) return failedWith(body.why);
      return runServer({
        ...{ processor, input, body, timeoutMs, stop, onRetry },
        idempotencyKey: idempotencyKeyOf(step),
        takeAnswer: (read) => takeAnswer(diagnosis.uid, read, stop),
      });
    };
    return failingAlone(run(), stop);
  };
}
