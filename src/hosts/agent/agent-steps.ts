import type { Executor } from '../../pipeline/channel/executor.ts';
import { idempotencyKeyOf } from '../../pipeline/steps/idempotency-key.ts';
import { failedWith } from '../../pipeline/steps/operation-result.ts';
import { isOwnPath, runServer } from '../../pipeline/steps/run-server.ts';
import { failingAlone, type RunStep, stopWithin } from '../../pipeline/steps/step-to-run.ts';
import { inputBody } from './input-body.ts';
import type { TakeAnswer } from './large-answers.ts';

export interface AgentStepOptions {
  readonly runOnNode: RunStep;
  readonly readFile: Executor['readFile'];
  readonly takeAnswer: TakeAnswer;
}

/**
 * Runs a step where it belongs. The agent itself asks servers that Operations name, because the
 * executor has no network of its own; the executor runs everything else.
 */
export function agentSteps({ runOnNode, readFile, takeAnswer }: AgentStepOptions): RunStep {
  return async (step) => {
    const { processor, input, restMs, diagnosis, onRetry } = step;
    if (processor.way !== 'http' || isOwnPath(processor)) return runOnNode(step);
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
