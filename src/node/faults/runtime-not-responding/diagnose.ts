import type { RuntimeService } from '../../evidence/services/runtime-service.ts';
import { type Verdict, verdictOf } from '../../model/verdict.ts';
import { type RuntimeNotResponding, silentFinding } from './messages.ts';

export interface Evidence {
  readonly service: RuntimeService;
}

export function diagnose({ service }: Evidence): Verdict<RuntimeNotResponding> {
  switch (service.state) {
    case 'answers':
      return verdictOf({ findings: [], unknowns: [] });
    case 'uncertain':
      return verdictOf({ findings: [], unknowns: [{ why: service.why }] });
    case 'silent':
      return verdictOf({
        findings: [silentFinding(service)],
        unknowns: service.unit.unread.map((why) => ({
          why: `the log of the container runtime was not read: ${why}`,
        })),
      });
  }
}
