import type { Signature } from './log-signature.ts';

/** Replaces a text that a bundle must not contain. */
export const REDACTED = '<redacted>';

/** The parts that faults read of texts from other programs. A bundle contains no other parts. */
export interface RedactionRules {
  readonly logSignatures: readonly Signature[];
  readonly messages: readonly MessageRule[];
  readonly files: readonly FileRule[];
}

/**
 * The part of a container's message that a bundle may contain; undefined if the fault reads nothing
 * of it.
 */
export type MessageRule = (message: string) => string | undefined;

/**
 * The part that a bundle may contain of a file that only one fault reads. The path is that of the
 * question.
 */
export interface FileRule {
  readonly path: RegExp;
  readonly redact: (text: string) => string;
}
