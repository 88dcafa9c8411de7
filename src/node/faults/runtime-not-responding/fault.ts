import { type RuntimeService, runtimeService } from '../../evidence/services/runtime-service.ts';
import { defineFault } from '../../model/fault.ts';
import { unknownWith, type Verdict, verdictOf } from '../../model/verdict.ts';
import { type RuntimeNotResponding, reasons, silentFinding } from './messages.ts';

export const runtimeNotResponding = defineFault({
  id: 'runtime-not-responding',
  title: 'The container runtime of this node does not respond',
  severity: 'broken',
  stage: 'stable',
  isFirst: true,
  isCurrentState: true,
  affectsWholeNode: true,
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

export interface Evidence {
  readonly service: RuntimeService;
}

function diagnose({ service }: Evidence): Verdict<RuntimeNotResponding> {
  switch (service.state) {
    case 'answers':
      return verdictOf({ findings: [], unknowns: [] });
    case 'uncertain':
      return verdictOf({ findings: [], unknowns: [unknownWith(service.why, service.error)] });
    case 'silent':
      return verdictOf({
        findings: [silentFinding(service)],
        unknowns: service.unit.unread.map(({ why, error }) =>
          unknownWith(`the log of the container runtime was not read: ${why}`, error),
        ),
      });
  }
}
