import { controllerStepOf } from '../../pipeline/steps/controller-steps.ts';
import type { RunStepWhenDue } from '../../pipeline/steps/step-to-run.ts';
import { CONTROLLER_WAIT_MS } from './limits.ts';

/** Leaves the steps that need rights at the API server to the controller, and runs all others. */
export function leavingToController(run: RunStepWhenDue): RunStepWhenDue {
  return async (step) => {
    if (!controllerStepOf(step.processor)) return run(step);
    const { name } = step;
    return { notNow: { reason: 'ControllerStepDue', name }, againMs: CONTROLLER_WAIT_MS };
  };
}
