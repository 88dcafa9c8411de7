import type { Semaphore } from '../../lib/std/semaphore.ts';
import { builtIn, processors } from '../../pipeline/operations/catalogue.ts';
import { OWN_TIMEOUT_SECONDS } from '../../pipeline/operations/limits.ts';
import type { OwnProcessor } from '../../pipeline/operations/processor-host.ts';
import { runOperation } from '../../pipeline/operations/run-operation.ts';
import { failedWith, type StepInput } from '../../pipeline/steps/operation-result.ts';
import type { ManagedNode } from '../local-node/open-repair.ts';
import { type StepListener, stepHosts } from '../local-node/step-host.ts';
import type { ProcessorBackend } from '../web/processor-handler.ts';
import { PROCESSORS_MAX } from './limits.ts';

/**
 * The built-in processors, for graphs of other programs. A client with the token may also repair, one
 * at a time with the repairs of Diagnoses; the policy of a Diagnosis does not apply here.
 */
export function processorBackend(
  node: ManagedNode,
  listener: StepListener,
  repairing: Semaphore,
): ProcessorBackend {
  const withHost = stepHosts(node, listener);
  let running = 0;
  return {
    processorPaths: processors.map(({ path }) => path),
    runProcessor: async (path, input, { isDryRun, stop }) => {
      if (running >= PROCESSORS_MAX) {
        const message = `${PROCESSORS_MAX} processors are running already: try again later`;
        return { succeeded: false, message, cause: 'Busy' };
      }
      running += 1;
      const timeoutMs = OWN_TIMEOUT_SECONDS * 1_000;
      const name = path.replace(/^.*\//, '');
      const processor = builtIn(path);
      const consent = async () => ({ given: isDryRun ? 'to-plan' : 'to-act' }) as const;
      const run = () =>
        withHost({ consent, stop, timeoutMs }, (host) =>
          runOperation({ name, processor, input, host, isDryRun }),
        );
      const own = processors.find((each) => each.path === path);
      try {
        const result = await (own?.repairs ? repairing.run(run, stop) : run());
        return own && lacksInput(own, input) ? { ...result, cause: 'InputMissing' } : result;
      } catch (error) {
        if (error === stop.reason) return failedWith('stopped before it began');
        throw error;
      } finally {
        running -= 1;
      }
    },
  };
}

function lacksInput({ reads, readsElse = reads }: OwnProcessor, input: StepInput): boolean {
  return [reads, readsElse].every((keys) => keys.some((key) => !input[key]));
}
