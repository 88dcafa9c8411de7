import type { Signature } from './log-signature.ts';
import { CONTAINER_SIGNATURES } from './log-signatures-of-containers.ts';
import { NEIGHBOUR_SIGNATURES } from './log-signatures-of-neighbours.ts';
import { SYNC_LOOP_SIGNATURES } from './log-signatures-of-sync-loop.ts';
import { VOLUME_SIGNATURES } from './log-signatures-of-volumes.ts';

/** Everything that we know to read in a log, by name. */
export const LOG_SIGNATURES = {
  ...CONTAINER_SIGNATURES,
  ...SYNC_LOOP_SIGNATURES,
  ...VOLUME_SIGNATURES,
  ...NEIGHBOUR_SIGNATURES,
} as const satisfies Readonly<Record<string, Signature>>;

export type SignatureId = keyof typeof LOG_SIGNATURES;

export const SIGNATURES: readonly (readonly [SignatureId, Signature])[] = Object.entries(
  LOG_SIGNATURES,
) as readonly (readonly [SignatureId, Signature])[];

/** What a log is searched for, each once. */
export const LOG_LITERALS: readonly string[] = [
  ...new Set(SIGNATURES.flatMap(([, { literals }]) => literals)),
];
