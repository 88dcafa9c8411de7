import { fieldAt, textAt } from '../../../lib/std/json.ts';
import { kindNamed, pathOf } from '../command-line/kind-named.ts';
import type { AgentClient } from './agent-client.ts';

/** What has to come before a Diagnosis goes on to its end, as far as that can be known. */
export async function waitsOf(value: unknown, client: AgentClient): Promise<readonly string[]> {
  const phase = textAt(value, 'status', 'phase') ?? '';
  if (phase === 'Succeeded' || phase === 'Failed') return [];
  const waits = [
    ...(fieldAt(value, 'spec', 'suspend') === true
      ? ['somebody who sets spec.suspend to false']
      : []),
    ...(await missingFor(value, client)),
  ];
  if (waits.length > 0 || phase === 'Running') return waits;
  return ['its turn: others are under way'];
}

/** What the agent would say to whoever applied it now; nothing is changed by that. */
async function missingFor(value: unknown, client: AgentClient): Promise<readonly string[]> {
  const namespace = textAt(value, 'metadata', 'namespace');
  const path = pathOf(kindNamed('Diagnosis'), namespace, textAt(value, 'metadata', 'name'));
  const answer = await client.ask('PATCH', `${path}?dryRun=All`, {
    body: {},
    type: 'application/merge-patch+json',
  });
  if ('trouble' in answer) return [];
  // spec.parameters["a.b"]: no effect: no core file is made of a process
  return answer.warnings.filter((text) => !/^(spec|metadata)\b/.test(text));
}
