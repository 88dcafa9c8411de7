import { runtimeService } from '../../evidence/services/runtime-service.ts';
import { defineFault } from '../../model/fault.ts';
import { diagnose } from './diagnose.ts';
import { reasons } from './messages.ts';

export const runtimeNotResponding = defineFault({
  id: 'runtime-not-responding',
  title: 'The container runtime of this node does not respond',
  severity: 'broken',
  stage: 'stable',
  isFirst: true,
  isOfTheMoment: true,
  isOfTheNode: true,
  references: [
    'https://kubernetes.io/docs/setup/production-environment/container-runtimes/',
    'https://kubernetes.io/docs/tasks/debug/debug-cluster/crictl/',
  ],
  affected: [
    { component: 'container runtime', versions: 'all', behaviour: 'no pod is started or stopped' },
  ],
  reasons,
  needs: { service: runtimeService },
  diagnose,
});
