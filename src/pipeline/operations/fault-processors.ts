import { faults } from '../../node/faults/index.ts';
import type { AnyFault } from '../../node/model/fault.ts';
import { diagnoseFault } from './diagnose-fault.ts';
import { stepsOf } from './fault-steps.ts';
import type { OwnProcessor } from './processor-host.ts';
import { recoverFault } from './recover-fault.ts';

/** Two processors for each fault: one that finds it and, where we have a cure, one that repairs it. */
export const faultProcessors: readonly OwnProcessor[] = faults.flatMap(processorsOf);

function processorsOf(fault: AnyFault): readonly OwnProcessor[] {
  const steps = stepsOf(fault);
  const diagnoser: OwnProcessor = {
    path: steps.diagnoserPath,
    operation: steps.diagnoser,
    does: `finds active ${fault.id} (${lowered(fault.title)})`,
    details:
      'It succeeds when a finding is damaged or active. If all findings are latent or benign, if there is ' +
      'none, or if the result is unknown, the step fails with the reason; `status.findings` lists latent ' +
      'findings too. With a podReference only that pod is checked. The findings are JSON.',
    reads: [],
    writes: [steps.found, steps.findings, steps.bugLink],
    repairs: false,
    run: (input, host) => diagnoseFault(fault, input, host),
  };
  if (!fault.recover) return [diagnoser];
  const recover: OwnProcessor = {
    path: steps.recoverPath,
    operation: steps.recover,
    does: 'repairs the findings of that step that a new check confirms',
    details:
      'Only the ids of the findings are used. A finding that is neither damaged nor active, that the new ' +
      'check does not confirm, or that needs the confirmation of a person is refused. The others are ' +
      'repaired, but the step fails.',
    reads: [steps.findings],
    writes: [steps.recovered],
    repairs: true,
    run: (input, host) => recoverFault(fault, input, host),
  };
  return [diagnoser, recover];
}

function lowered(title: string): string {
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}`;
}
