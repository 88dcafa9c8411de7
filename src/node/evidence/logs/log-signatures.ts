import type { LogSignature, Signature } from '../../model/log-signature.ts';
import { CONTAINER_SIGNATURES } from './log-signatures-of-containers.ts';
import { NEIGHBOUR_SIGNATURES } from './log-signatures-of-neighbours.ts';
import { SYNC_LOOP_SIGNATURES } from './log-signatures-of-sync-loop.ts';
import { VOLUME_SIGNATURES } from './log-signatures-of-volumes.ts';

const KUBELET_SIGNATURES = {
  ...CONTAINER_SIGNATURES,
  ...SYNC_LOOP_SIGNATURES,
  ...VOLUME_SIGNATURES,
  ...NEIGHBOUR_SIGNATURES,
} as const satisfies Readonly<Record<string, Signature>>;

export type SignatureId = keyof typeof KUBELET_SIGNATURES;

/** What evidence itself reads in the kubelet's log; faults declare the rest. */
export const SIGNATURES: readonly LogSignature[] = Object.entries(KUBELET_SIGNATURES).map(
  ([id, signature]) => ({ id, log: 'kubelet', ...signature }),
);

/** What a log is searched for, each once. */
export function literalsOf(signatures: readonly Signature[]): readonly string[] {
  return [...new Set(signatures.flatMap(({ literals }) => literals))];
}

export type Fields = Readonly<Record<string, string>>;

/** The fields of a message that has this signature; undefined when it has not. */
export function fieldsIn(message: string, { literals, patterns }: Signature): Fields | undefined {
  if (!literals.some((literal) => message.includes(literal))) return undefined;
  for (const pattern of patterns) {
    const found = pattern.exec(message);
    if (!found) continue;
    const groups = Object.entries(found.groups ?? {}).filter(([, text]) => text !== undefined);
    return Object.fromEntries(groups.map(([name, text]) => [name, (text ?? '').trim()]));
  }
  return undefined;
}
