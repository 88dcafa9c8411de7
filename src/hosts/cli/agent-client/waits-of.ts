import { fieldAt, textAt } from '../../../lib/std/json.ts';
import { kindNamed, pathOf } from '../command-line/kind-named.ts';
import type { AgentClient } from './agent-client.ts';

/** What a Diagnosis waits for, as far as that can be known. */
export async function waitsOf(value: unknown, client: AgentClient): Promise<readonly string[]> {
  const phase = textAt(value, 'status', 'phase') ?? '';
  if (phase === 'Succeeded' || phase === 'Failed') return [];
  const waits = [
    ...(fieldAt(value, 'spec', 'suspend') === true ? ['spec.suspend to be set to false'] : []),
    ...(await missingFor(value, client)),
  ];
  if (waits.length > 0 || phase === 'Running') return waits;
  return ['other Diagnoses that are running'];
}

/** The warnings of a dry run, which name the missing objects. */
async function missingFor(value: unknown, client: AgentClient): Promise<readonly string[]> {
  const namespace = textAt(value, 'metadata', 'namespace');
  const path = pathOf(kindNamed('Diagnosis'), namespace, textAt(value, 'metadata', 'name'));
  const answer = await client.ask('PATCH', `${path}?dryRun=All`, {
    body: {},
    type: 'application/merge-patch+json',
  });
  if ('failure' in answer) return [];
  // spec.parameters["a.b"]: no effect: no core file is made of a process
  return answer.warnings.filter((text) => !/^(spec|metadata)\b/.test(text));
}
