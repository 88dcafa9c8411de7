import type { RuntimeService } from '../../evidence/services/runtime-service.ts';
import { type Verdict, verdictOf } from '../../model/verdict.ts';
import { type RuntimeNotResponding, silentFinding } from './tell.ts';

export interface Evidence {
  readonly service: RuntimeService;
}

export function diagnose({ service }: Evidence): Verdict<RuntimeNotResponding> {
  switch (service.state) {
    case 'answers':
      return verdictOf({ findings: [], doubts: [] });
    case 'uncertain':
      return verdictOf({ findings: [], doubts: [{ why: service.why }] });
    case 'silent':
      return verdictOf({
        findings: [silentFinding(service)],
        doubts: service.unit.unread.map((why) => ({
          why: `the log of the container runtime was not read: ${why}`,
        })),
      });
  }
}
