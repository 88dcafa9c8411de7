import type { OwnProcessor } from '../../pipeline/operations/processor-host.ts';
import { ownProcessor } from '../../pipeline/operations/run-operation.ts';
import { refusedWith, type StepInput } from '../../pipeline/steps/operation-result.ts';
import { isOwnPath } from '../../pipeline/steps/run-server.ts';
import type { RunStep, StepToRun } from '../../pipeline/steps/step-to-run.ts';
import type { Policy } from './policy.ts';

interface Guard {
  readonly policy: () => Promise<Policy>;
  /** Absent: not compared with that of a Diagnosis. */
  readonly nodeName: string | undefined;
}

/** Runs the steps that the policy permits. */
export function guardedSteps(run: RunStep, { policy, nodeName }: Guard): RunStep {
  return async (step) => {
    const wanted = step.diagnosis.nodeName;
    if (nodeName !== undefined && wanted !== nodeName) {
      return refusedWith(`node ${wanted}: not this node (this is ${nodeName})`);
    }
    const refusal = refusalOf(step, await policy());
    return refusal === undefined ? run(step) : refusedWith(refusal);
  };
}

function refusalOf({ processor, input }: StepToRun, policy: Policy): string | undefined {
  if (processor.way !== 'http') {
    return policy.scripts ? undefined : denied('scripts and functions', 'scripts: Allow', policy);
  }
  if (!isOwnPath(processor)) {
    return 'an executor asks no server that an Operation names; the agent does';
  }
  const own = ownProcessor(processor);
  if (own?.needsPermission && !policy.profilers) {
    return denied(own.operation, 'profilers: Allow', policy);
  }
  if (own?.repairs && policy.problem !== undefined) return policy.problem;
  return own && serverRefusal(own, input, policy);
}

function serverRefusal(
  { operation, serversIn }: OwnProcessor,
  input: StepInput,
  policy: Policy,
): string | undefined {
  // The step itself reports a server that is missing from its input.
  const named = serversIn?.(input).filter((text) => text !== '') ?? [];
  const origins = named.map((text) => URL.parse(text)?.origin ?? text);
  const other = origins.find((origin) => !policy.servers.has(origin));
  if (other === undefined) return undefined;
  return denied(`${operation}: the server ${other}`, `"${other}" in servers`, policy);
}

function denied(what: string, setting: string, { problem }: Policy): string {
  const why = problem ?? 'the policy of the executor on this node does not permit it';
  return `${what}: ${why}; to permit it, set ${setting} in the policy file (ConfigMap kubediag-executor)`;
}
