import type { Signature } from './log-signature.ts';

/** Stands for a text that a bundle must not contain. */
export const REDACTED = '<redacted>';

/** What faults read of texts that other programs wrote. A bundle contains nothing else of them. */
export interface RedactionRules {
  readonly logSignatures: readonly Signature[];
  readonly messages: readonly MessageRule[];
  readonly files: readonly FileRule[];
}

/** What may leave the node of a container's message; undefined when the fault reads nothing of it. */
export type MessageRule = (message: string) => string | undefined;

/** What may leave the node of a file that only one fault reads; the path is the one that was asked for. */
export interface FileRule {
  readonly path: RegExp;
  readonly redact: (text: string) => string;
}
